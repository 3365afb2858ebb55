/// Instructions that lanes of a warp execute together: shfl, vote, match, redux, activemask, elect,
/// bar.warp.sync.
///
/// Each names its members in a mask, and completes when all members that have not exited have arrived.

#include "emulator/machine/warp.hpp"
#include "emulator/execute/families.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/schedule.hpp"
#include "emulator/program/decoder.hpp"

#include <algorithm>

namespace emulator {

namespace {

using ptx::Operand, ptx::Type;
using std::int32_t, std::uint32_t, std::uint64_t;

struct MembersDetail : Detail {
    Row members = no_row;
    uint32_t mode = 0; ///< of a shuffle or a vote
};

Row members_row(const Instruction& instruction) { return instruction.detail_as<MembersDetail>().members; }
uint32_t mode_of(const Instruction& instruction) { return instruction.detail_as<MembersDetail>().mode; }

/// Lanes that name different members form separate groups. Calls `execute(group, members)` for each complete
/// group and moves it on; the lanes of the others wait here and execute the instruction again.
template <class Execute>
void in_complete_groups(Warp& warp, const Instruction& instruction, LaneMask active, Execute execute,
                        decltype(WarpSyncArrival::source) source = nullptr) {
    const uint32_t* const members = warp.cells<uint32_t>(members_row(instruction));
    const auto observers = warp.block().subscribers(EventKind::warp_sync);
    for (Observer* const observer : observers)
        observer->warp_sync_arrive(warp, instruction, {active, members, source});
    LaneMask done = 0;
    for (LaneMask left = active; left != 0;) {
        const LaneMask named = members[std::countr_zero(left)];
        const LaneMask group = left & lanes_where([&](int lane) { return members[lane] == named; });
        left &= ~group;
        if ((named & warp.live() & ~group) != 0 && !warp.ignores_warp_sync()) continue;
        execute(group);
        done |= group;
        for (Observer* const observer : observers)
            observer->warp_sync_complete(warp, instruction, group,
                                         instruction.sync == SyncKind::warp_barrier);
    }
    if (done == active)
        warp.advance();
    else
        warp.wait_for_warp_sync(done, members);
}

// ---- shfl ----

enum ShuffleMode : uint32_t { up, down, butterfly, index };

/// The lane that `lane` reads, or -1 if it lies outside its segment: then the lane keeps its own value.
int source_lane(uint32_t mode, int lane, uint32_t b, uint32_t c) {
    const int segment_mask = static_cast<int>(c >> 8 & 31), clamp = static_cast<int>(c & 31),
              offset = static_cast<int>(b & 31);
    const int last = (lane & segment_mask) | (clamp & ~segment_mask);
    const int first = lane & segment_mask;
    switch (mode) {
    case up: return lane - offset >= last ? lane - offset : -1;
    case down: return lane + offset <= last ? lane + offset : -1;
    case butterfly: return (lane ^ offset) <= last ? lane ^ offset : -1;
    default: {
        const int chosen = first | (offset & ~segment_mask);
        return chosen <= last ? chosen : -1;
    }
    }
}

/// What a lane gets from one that takes no part is undefined. Without a schedule, it is that lane's value.
void scramble_undefined(Schedule& schedule, LaneMask group, const int* from, uint32_t* results) {
    for_each_lane(group, [&](int lane) {
        if (from[lane] >= 0 && (group >> from[lane] & 1) == 0)
            results[lane] = static_cast<uint32_t>(schedule.below(uint64_t{1} << 32));
    });
}

/// A known mode makes the loop free of branches.
template <ShuffleMode mode> void shuffle_group(Warp& warp, const Instruction& instruction, LaneMask group) {
    const uint32_t* const value = warp.cells<uint32_t>(instruction.sources[0]);
    const uint32_t* const b = warp.cells<uint32_t>(instruction.sources[1]);
    const uint32_t* const c = warp.cells<uint32_t>(instruction.sources[2]);
    int from[warp_size];
    uint32_t results[warp_size];
    for (int lane = 0; lane < warp_size; ++lane) from[lane] = source_lane(mode, lane, b[lane], c[lane]);
    for (int lane = 0; lane < warp_size; ++lane) results[lane] = value[from[lane] < 0 ? lane : from[lane]];
    if (Schedule* const schedule = warp.block().grid().schedule)
        scramble_undefined(*schedule, group, from, results);
    uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
    for (int lane = 0; lane < warp_size; ++lane)
        result[lane] = (group >> lane & 1) != 0 ? results[lane] : result[lane];
    if (instruction.second == no_row) return;
    const LaneMask inside = lanes_where([&](int lane) { return from[lane] >= 0; });
    LaneMask& predicate = warp.predicate(instruction.second);
    predicate = (predicate & ~group) | (inside & group);
}

int shuffle_source(const Warp& warp, const Instruction& instruction, int lane) {
    return source_lane(mode_of(instruction), lane, warp.cells<uint32_t>(instruction.sources[1])[lane],
                       warp.cells<uint32_t>(instruction.sources[2])[lane]);
}

void shuffle(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto execute = [&](LaneMask group) {
        switch (mode_of(instruction)) {
        case up: return shuffle_group<up>(warp, instruction, group);
        case down: return shuffle_group<down>(warp, instruction, group);
        case butterfly: return shuffle_group<butterfly>(warp, instruction, group);
        default: return shuffle_group<index>(warp, instruction, group);
        }
    };
    in_complete_groups(warp, instruction, active, execute, &shuffle_source);
}

/// `d` or `d|p`
void take_result_pair(Decoding& statement, Type type) {
    const Operand& target = statement.operand(0);
    const bool pair = target.kind == Operand::Kind::pair;
    const Operand& first = pair ? target.elements[0] : target;
    statement.instruction.destination = statement.destination(first, type);
    if (pair && target.elements[1].kind != Operand::Kind::sink)
        statement.instruction.second = statement.destination(target.elements[1], Type::pred);
}

void require_sync(Decoding& statement) {
    if (!statement.take(".sync"))
        statement.unsupported(
            statement.statement().place,
            "only the form with '.sync' is supported: without it lanes need not be converged");
}

void decode_shfl(Decoding& statement) {
    require_sync(statement);
    const std::string_view mode = statement.take_any({".up", ".down", ".bfly", ".idx"});
    if (mode.empty()) statement.invalid(statement.statement().place, "shfl needs .up, .down, .bfly or .idx");
    const Type type = statement.take_type();
    if (type != Type::b32) statement.no_such_type(type);
    statement.expect_operands(5, 5);
    take_result_pair(statement, type);
    for (std::size_t k = 0; k < 3; ++k) statement.instruction.sources[k] = statement.source(k + 1, Type::b32);
    statement.detail<MembersDetail>().members = statement.source(4, Type::b32);
    statement.detail<MembersDetail>().mode = mode == ".up"     ? up
                                             : mode == ".down" ? down
                                             : mode == ".bfly" ? butterfly
                                                               : index;
    statement.control_with(&shuffle);
}

// ---- vote ----

LaneMask true_lanes(Warp& warp, const Instruction& instruction, LaneMask group) {
    return instruction.as_read(0, warp.predicate(instruction.sources[0])) & group;
}

enum VoteMode : uint32_t { all, any, uniform };

void vote(Warp& warp, const Instruction& instruction, LaneMask active) {
    in_complete_groups(warp, instruction, active, [&](LaneMask group) {
        const LaneMask yes = true_lanes(warp, instruction, group);
        const uint32_t mode = mode_of(instruction);
        const bool result = mode == all ? yes == group : mode == any ? yes != 0 : yes == group || yes == 0;
        LaneMask& predicate = warp.predicate(instruction.destination);
        predicate = (predicate & ~group) | (result ? group : 0);
    });
}

void ballot(Warp& warp, const Instruction& instruction, LaneMask active) {
    in_complete_groups(warp, instruction, active, [&](LaneMask group) {
        const LaneMask yes = true_lanes(warp, instruction, group);
        uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
        for (int lane = 0; lane < warp_size; ++lane)
            result[lane] = (group >> lane & 1) != 0 ? yes : result[lane];
    });
}

void decode_vote(Decoding& statement) {
    require_sync(statement);
    const std::string_view mode = statement.take_any({".all", ".any", ".uni", ".ballot"});
    if (mode.empty())
        statement.invalid(statement.statement().place, "vote needs .all, .any, .uni or .ballot");
    const Type type = statement.take_type();
    if (type != (mode == ".ballot" ? Type::b32 : Type::pred)) statement.no_such_type(type);
    statement.expect_operands(3, 3);
    statement.instruction.destination = statement.destination(0, type);
    statement.take_predicate(0, statement.operand(1));
    statement.detail<MembersDetail>().members = statement.source(2, Type::b32);
    statement.detail<MembersDetail>().mode = mode == ".all" ? all : mode == ".any" ? any : uniform;
    statement.control_with(mode == ".ballot" ? &ballot : &vote);
}

// ---- match ----

template <class T> void match_any(Warp& warp, const Instruction& instruction, LaneMask active) {
    in_complete_groups(warp, instruction, active, [&](LaneMask group) {
        const T* const value = warp.cells<T>(instruction.sources[0]);
        uint32_t results[warp_size];
        for_each_lane(group, [&](int lane) {
            LaneMask same = 0;
            for_each_lane(group, [&](int other) { same |= LaneMask{value[other] == value[lane]} << other; });
            results[lane] = same;
        });
        uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
        for_each_lane(group, [&](int lane) { result[lane] = results[lane]; });
    });
}

template <class T> void match_all(Warp& warp, const Instruction& instruction, LaneMask active) {
    in_complete_groups(warp, instruction, active, [&](LaneMask group) {
        const T* const value = warp.cells<T>(instruction.sources[0]);
        bool same = true;
        for_each_lane(group, [&](int lane) { same = same && value[lane] == value[std::countr_zero(group)]; });
        uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
        for_each_lane(group, [&](int lane) { result[lane] = same ? group : 0; });
        if (instruction.second == no_row) return;
        LaneMask& predicate = warp.predicate(instruction.second);
        predicate = (predicate & ~group) | (same ? group : 0);
    });
}

void decode_match(Decoding& statement) {
    require_sync(statement);
    const std::string_view mode = statement.take_any({".any", ".all"});
    const Type type = statement.take_type();
    if (mode.empty() || (type != Type::b32 && type != Type::b64)) statement.no_such_type(type);
    statement.expect_operands(3, 3);
    take_result_pair(statement, Type::b32);
    if (mode == ".any" && statement.operand(0).kind == Operand::Kind::pair)
        statement.invalid(statement.operand(0).place, "only match.all writes a predicate");
    statement.instruction.sources[0] = statement.source(1, type);
    statement.detail<MembersDetail>().members = statement.source(2, Type::b32);
    const bool wide = type == Type::b64;
    if (mode == ".any")
        statement.control_with(wide ? &match_any<uint64_t> : &match_any<uint32_t>);
    else
        statement.control_with(wide ? &match_all<uint64_t> : &match_all<uint32_t>);
}

// ---- redux ----

struct Add {
    template <class T> static T apply(T a, T b) { return a + b; }
};
struct Minimum {
    template <class T> static T apply(T a, T b) { return std::min(a, b); }
};
struct Maximum {
    template <class T> static T apply(T a, T b) { return std::max(a, b); }
};
struct And {
    template <class T> static T apply(T a, T b) { return a & b; }
};
struct Or {
    template <class T> static T apply(T a, T b) { return a | b; }
};
struct ExclusiveOr {
    template <class T> static T apply(T a, T b) { return a ^ b; }
};

template <class Operation, class T>
void reduce_lanes(Warp& warp, const Instruction& instruction, LaneMask active) {
    in_complete_groups(warp, instruction, active, [&](LaneMask group) {
        const uint32_t* const value = warp.cells<uint32_t>(instruction.sources[0]);
        T total = static_cast<T>(value[std::countr_zero(group)]);
        for_each_lane(group & (group - 1),
                      [&](int lane) { total = Operation::apply(total, static_cast<T>(value[lane])); });
        uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
        for_each_lane(group, [&](int lane) { result[lane] = static_cast<uint32_t>(total); });
    });
}

Handler reduction_handler(std::string_view operation, Type type) {
    const bool is_signed = type == Type::s32;
    if (operation == ".and" && type == Type::b32) return &reduce_lanes<And, uint32_t>;
    if (operation == ".or" && type == Type::b32) return &reduce_lanes<Or, uint32_t>;
    if (operation == ".xor" && type == Type::b32) return &reduce_lanes<ExclusiveOr, uint32_t>;
    if (type != Type::u32 && type != Type::s32) return nullptr;
    if (operation == ".add") return &reduce_lanes<Add, uint32_t>;
    if (operation == ".min")
        return is_signed ? &reduce_lanes<Minimum, int32_t> : &reduce_lanes<Minimum, uint32_t>;
    if (operation == ".max")
        return is_signed ? &reduce_lanes<Maximum, int32_t> : &reduce_lanes<Maximum, uint32_t>;
    return nullptr;
}

void decode_redux(Decoding& statement) {
    require_sync(statement);
    const std::string_view operation = statement.take_any({".add", ".min", ".max", ".and", ".or", ".xor"});
    const Type type = statement.take_type();
    const Handler handler = reduction_handler(operation, type);
    if (!handler) statement.no_such_type(type);
    statement.expect_operands(3, 3);
    statement.instruction.destination = statement.destination(0, type);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.detail<MembersDetail>().members = statement.source(2, Type::b32);
    statement.control_with(handler);
}

// ---- activemask, elect, bar.warp.sync ----

void active_mask(Warp& warp, const Instruction& instruction, LaneMask active) {
    uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
    for_each_lane(active, [&](int lane) { result[lane] = active; });
}

void decode_activemask(Decoding& statement) {
    const Type type = statement.take_type();
    if (type != Type::b32) statement.no_such_type(type);
    statement.expect_operands(1, 1);
    statement.instruction.destination = statement.destination(0, type);
    statement.execute_with(&active_mask);
}

/// The lowest lane of the group is the leader.
void elect(Warp& warp, const Instruction& instruction, LaneMask active) {
    in_complete_groups(warp, instruction, active, [&](LaneMask group) {
        const auto leader = static_cast<uint32_t>(std::countr_zero(group));
        if (instruction.destination != no_row) {
            uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
            for_each_lane(group, [&](int lane) { result[lane] = leader; });
        }
        LaneMask& predicate = warp.predicate(instruction.second);
        predicate = (predicate & ~group) | LaneMask{1} << leader;
    });
}

void decode_elect(Decoding& statement) {
    require_sync(statement);
    statement.expect_operands(2, 2);
    const Operand& target = statement.operand(0);
    if (target.kind != Operand::Kind::pair)
        statement.invalid(target.place, "elect.sync writes a register and a predicate: d|p");
    if (target.elements[0].kind != Operand::Kind::sink)
        statement.instruction.destination = statement.destination(target.elements[0], Type::b32);
    statement.instruction.second = statement.destination(target.elements[1], Type::pred);
    statement.detail<MembersDetail>().members = statement.source(1, Type::b32);
    statement.control_with(&elect);
}

void warp_barrier(Warp& warp, const Instruction& instruction, LaneMask active) {
    in_complete_groups(warp, instruction, active, [](LaneMask) {});
}

} // namespace

void decode_warp_barrier(Decoding& statement) {
    statement.expect_operands(1, 1);
    statement.detail<MembersDetail>().members = statement.source(0, Type::b32);
    statement.instruction.sync = SyncKind::warp_barrier;
    statement.control_with(&warp_barrier);
}

std::span<const Opcode> warp_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"shfl", decode_shfl},
        {"vote", decode_vote},
        {"match", decode_match},
        {"redux", decode_redux},
        {"activemask", decode_activemask},
        {"elect", decode_elect},
    };
    return opcodes;
}

} // namespace emulator

/// mbarrier.init, inval, arrive, arrive_drop, expect_tx, complete_tx, test_wait, try_wait, pending_count.
#include "emulator/machine/mbarrier.hpp"
#include "emulator/execute/address_resolution.hpp"
#include "emulator/execute/lanewise.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/program/decoder.hpp"

namespace emulator {

namespace {

using ptx::Operand, ptx::Space, ptx::Type;
using std::uint32_t, std::uint64_t;

/// Operands of an mbarrier instruction; the destination and the count or state are the instruction's own.
struct MbarrierDetail : Detail {
    AddressOperand address;
    bool drops = false, expects = false, may_complete = true, is_parity = false, suspends = false;
};

const MbarrierDetail& detail_of(const Instruction& instruction) {
    return instruction.detail_as<MbarrierDetail>();
}

template <class Act> void at_each(Warp& warp, const Instruction& instruction, LaneMask active, Act act) {
    const AddressOperand& address = detail_of(instruction).address;
    for_each_lane_absorbing_faults(warp, active, [&](int lane) {
        const auto place = resolve_address(warp, instruction, lane, address.space, address.of(warp, lane),
                                           Mbarrier::bytes, Mbarrier::bytes, AccessKind::atom);
        if (place && place->owner) act(lane, Mbarrier(*place->owner, place->address));
    });
}

uint32_t count_of(const Warp& warp, const Instruction& instruction, int lane) {
    return instruction.sources[1] == no_row ? 1 : warp.cells<uint32_t>(instruction.sources[1])[lane];
}

void initialize(Warp& warp, const Instruction& instruction, LaneMask active) {
    at_each(warp, instruction, active, [&](int lane, Mbarrier mbarrier) {
        mbarrier.initialize(warp, instruction, lane, count_of(warp, instruction, lane));
    });
}

void invalidate(Warp& warp, const Instruction& instruction, LaneMask active) {
    at_each(warp, instruction, active,
            [&](int lane, Mbarrier mbarrier) { mbarrier.invalidate(warp, instruction, lane); });
}

void arrive(Warp& warp, const Instruction& instruction, LaneMask active) {
    const MbarrierDetail& detail = detail_of(instruction);
    at_each(warp, instruction, active, [&](int lane, Mbarrier mbarrier) {
        const uint32_t count = count_of(warp, instruction, lane);
        if (detail.expects) mbarrier.expect_bytes(warp, instruction, lane, count);
        const uint64_t state = mbarrier.arrive(warp, instruction, lane, detail.expects ? 1 : count,
                                               detail.drops, detail.may_complete);
        if (instruction.destination != no_row) warp.cells<uint64_t>(instruction.destination)[lane] = state;
    });
}

void expect_bytes(Warp& warp, const Instruction& instruction, LaneMask active) {
    at_each(warp, instruction, active, [&](int lane, Mbarrier mbarrier) {
        mbarrier.expect_bytes(warp, instruction, lane, count_of(warp, instruction, lane));
    });
}

void complete_bytes(Warp& warp, const Instruction& instruction, LaneMask active) {
    at_each(warp, instruction, active, [&](int lane, Mbarrier mbarrier) {
        mbarrier.complete_bytes(warp, instruction, lane, count_of(warp, instruction, lane));
    });
}

/// A lane that has to wait yields to others, since it tests in a loop.
void test(Warp& warp, const Instruction& instruction, LaneMask active) {
    const MbarrierDetail& detail = detail_of(instruction);
    LaneMask over = 0, asked = 0;
    at_each(warp, instruction, active, [&](int lane, Mbarrier mbarrier) {
        const bool is_over =
            detail.is_parity
                ? mbarrier.test_parity(warp, instruction, lane, count_of(warp, instruction, lane))
                : mbarrier.test(warp, instruction, lane, warp.cells<uint64_t>(instruction.sources[1])[lane]);
        over |= LaneMask{is_over} << lane;
        asked |= LaneMask{1} << lane;
    });
    over |= active & ~asked; // where an observer has absorbed a fault, nobody waits
    LaneMask& predicate = warp.predicate(instruction.destination);
    predicate = (predicate & ~active) | over;
    warp.advance();
    if (over != active) warp.yield();
}

struct PendingCount {
    uint32_t operator()(uint64_t state) const { return Mbarrier::pending_count(state); }
};

Space take_shared_space(Decoding& statement) {
    const Space space = statement.take_space();
    if (space != Space::generic && space != Space::shared && space != Space::shared_cluster)
        statement.invalid(statement.statement().place, "an mbarrier lies in shared memory");
    return space;
}

/// .sem and .scope: the emulator's mbarriers order like .acquire and .release at the widest scope.
void take_order(Decoding& statement) {
    statement.take_any({".release", ".acquire", ".relaxed"});
    statement.take_any({".cta", ".cluster"});
}

void decode_arrive(Decoding& statement, MbarrierDetail& detail) {
    detail.expects = statement.take(".expect_tx");
    detail.may_complete = !statement.take(".noComplete");
    take_order(statement);
    const Space space = take_shared_space(statement);
    statement.expect_operands(1, 3);
    const bool has_state = statement.operand(0).kind != Operand::Kind::address;
    const std::size_t at = has_state ? 1 : 0;
    statement.expect_operands(at + (detail.expects || !detail.may_complete ? 2 : 1), at + 2);
    if (has_state && !statement.never_read(statement.operand(0)))
        statement.instruction.destination = statement.destination(0, Type::b64);
    detail.address = take_address(statement, at, space);
    if (statement.operand_count() > at + 1)
        statement.instruction.sources[1] = statement.source(at + 1, Type::u32);
    statement.execute_with(&arrive);
}

void decode_wait(Decoding& statement, MbarrierDetail& detail) {
    detail.is_parity = statement.take(".parity");
    take_order(statement);
    const Space space = take_shared_space(statement);
    statement.expect_operands(3, 4); // the fourth is the suspend-time hint
    statement.instruction.destination = statement.destination(0, Type::pred);
    detail.address = take_address(statement, 1, space);
    statement.instruction.sources[1] = statement.source(2, detail.is_parity ? Type::u32 : Type::b64);
    if (statement.operand_count() == 4) statement.source(3, Type::u32);
    statement.control_with(&test);
}

/// [a], count
void decode_counted(Decoding& statement, MbarrierDetail& detail, Handler handler) {
    take_order(statement);
    const Space space = take_shared_space(statement);
    statement.expect_operands(2, 2);
    detail.address = take_address(statement, 0, space);
    statement.instruction.sources[1] = statement.source(1, Type::u32);
    statement.execute_with(handler);
}

void decode_mbarrier(Decoding& statement) {
    const std::string_view action =
        statement.take_any({".init", ".inval", ".arrive", ".arrive_drop", ".expect_tx", ".complete_tx",
                            ".test_wait", ".try_wait", ".pending_count"});
    if (action.empty())
        statement.invalid(statement.statement().place,
                          "an mbarrier instruction needs an action such as .init");
    if (statement.take_type() != Type::b64)
        statement.invalid(statement.statement().place, "an mbarrier has the type .b64");
    if (action == ".pending_count") {
        statement.expect_operands(2, 2);
        statement.instruction.destination = statement.destination(0, Type::u32);
        statement.instruction.sources[0] = statement.source(1, Type::b64);
        return statement.execute_with(&lanewise<PendingCount{}, uint32_t, uint64_t>);
    }
    auto& detail = statement.detail<MbarrierDetail>();
    statement.instruction.sync = SyncKind::mbarrier;
    if (action == ".init") return decode_counted(statement, detail, &initialize);
    if (action == ".complete_tx") return decode_counted(statement, detail, &complete_bytes);
    if (action == ".expect_tx") return decode_counted(statement, detail, &expect_bytes);
    if (action == ".inval") {
        const Space space = take_shared_space(statement);
        statement.expect_operands(1, 1);
        detail.address = take_address(statement, 0, space);
        return statement.execute_with(&invalidate);
    }
    if (action == ".test_wait" || action == ".try_wait") return decode_wait(statement, detail);
    detail.drops = action == ".arrive_drop";
    decode_arrive(statement, detail);
}

} // namespace

std::span<const Opcode> mbarrier_opcodes() {
    static constexpr Opcode opcodes[] = {{"mbarrier", decode_mbarrier}};
    return opcodes;
}

} // namespace emulator

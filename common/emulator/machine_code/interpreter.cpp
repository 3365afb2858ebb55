#include "emulator/machine_code/sampling.hpp"

#include "emulator/text.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace emulator::machine_code {
namespace {

constexpr std::size_t steps_between_looks = 1 << 16; ///< at the time
/// Warps take turns of so many instructions, as on a card: what one loads is in the L1 when others load it soon after.
constexpr int steps_of_turn = 32;

/// Lanes of a warp that go the same way.
struct Group {
    enum class State : std::uint8_t { ready, at_barrier, at_warp_sync, at_block_sync };
    LaneMask lanes = 0;
    std::uint32_t at = 0;
    State state = State::ready;
    LaneMask awaited = 0; ///< at_barrier, at_warp_sync: the lanes that meet there
};

/// A warp with the ways that its lanes go. Lanes meet again only at BSYNC, WARPSYNC and BAR, as on the card.
class WarpRun {
public:
    WarpRun(const Code& code, BlockState& block, std::uint32_t number, Deadline deadline)
        : code_(code), warp_(block, number), deadline_(deadline), groups_{{.lanes = warp_.existing()}} {}

    /// Until no lane can go on without other warps.
    /// Whether it can go on after that.
    bool run_turn(std::size_t& steps_left) {
        for (int k = 0; k < steps_of_turn; ++k) {
            Group* const group = next();
            if (!group) return false;
            step(*group, steps_left);
        }
        return next() != nullptr;
    }

    bool has_exited() const { return groups_.empty(); }
    bool waits_for_block() const {
        return std::all_of(groups_.begin(), groups_.end(),
                           [](const Group& group) { return group.state == Group::State::at_block_sync; });
    }

    void pass_block_barrier() {
        for (Group& group : groups_) {
            group.state = Group::State::ready;
            ++group.at;
        }
        join_where([](const Group&) { return true; });
    }

    timing::WarpTrace take_trace() { return std::move(trace_); }

private:
    Group* next() {
        const auto ready = std::find_if(groups_.begin(), groups_.end(), [](const Group& group) {
            return group.state == Group::State::ready;
        });
        return ready == groups_.end() ? nullptr : &*ready;
    }

    void step(Group& group, std::size_t& steps_left) {
        if (group.at >= code_.instructions.size())
            throw NotUnderstood("a warp runs past the end of the machine code");
        if (steps_left-- == 0) throw NotUnderstood("a block executes too many instructions to follow");
        if (steps_left % steps_between_looks == 0) expect_time_left(deadline_);
        const Instruction& instruction = code_.instructions[group.at];
        const LaneMask lanes = group.lanes & warp_.guard(instruction);
        warp_.active = lanes;
        warp_.step = {.instruction = group.at, .lanes = static_cast<std::uint8_t>(std::popcount(lanes))};
        const std::size_t place = trace_.size();
        trace_.push_back(warp_.step);
        if (instruction.flow == Flow::next) {
            if (lanes != 0) {
                instruction.action(warp_, lanes);
                trace_[place] = warp_.step;
            }
            ++group.at;
        } else {
            flow(group, instruction, lanes);
        }
    }

    void flow(Group& group, const Instruction& instruction, LaneMask lanes) {
        switch (instruction.flow) {
        case Flow::next: break;
        case Flow::branch: return branch(group, instruction, lanes);
        case Flow::branch_unless_converged: return branch_unless_converged(group, instruction, lanes);
        case Flow::branch_by_register: return branch_by_register(group, instruction, lanes);
        case Flow::call: return jump(group, lanes, target_of(instruction));
        case Flow::call_return: return give_back(group, instruction, lanes);
        case Flow::exit: return exit(group, lanes);
        case Flow::set_barrier: barriers_[instruction.operands[0].index] = group.lanes; break;
        case Flow::wait_barrier:
            group.state = Group::State::at_barrier;
            group.awaited = barriers_[instruction.operands[0].index];
            return release_barriers();
        case Flow::leave_barrier: return leave_barrier(group, instruction.operands[0].index, lanes);
        case Flow::move_barrier: move_barrier(instruction, lanes); break;
        case Flow::sync_warp: return sync_warp(group, instruction, lanes);
        case Flow::sync_block:
            group.state = Group::State::at_block_sync;
            return check_barrier(instruction, lanes);
        }
        ++group.at;
    }

    static std::uint32_t target_of(const Instruction& instruction) {
        return static_cast<std::uint32_t>(instruction.operands.back().bits);
    }

    /// The lanes go to `target`, the others of the group to the next instruction, and first.
    void jump(Group& group, LaneMask lanes, std::uint32_t target) {
        trace_.back().taken = lanes != 0;
        const LaneMask others = group.lanes & ~lanes;
        const std::uint32_t next = group.at + 1;
        if (lanes != 0 && others != 0) {
            group.lanes = others;
            group.at = next;
            groups_.push_back({.lanes = lanes, .at = target});
        } else {
            group.at = lanes != 0 ? target : next;
        }
    }

    void branch(Group& group, const Instruction& instruction, LaneMask lanes) {
        if (instruction.operands.size() > 1) lanes &= warp_.predicate(instruction.operands[0]);
        jump(group, lanes, target_of(instruction));
    }

    void branch_by_register(Group& group, const Instruction& instruction, LaneMask lanes) {
        if (lanes == 0) return jump(group, 0, 0);
        if (lanes != group.lanes) throw NotUnderstood("the model does not know a BRX of some lanes only");
        const std::uint64_t next = (group.at + 1) * std::uint64_t{instruction_bytes};
        jump_by_register(group, instruction, next + instruction.operands[0].bits);
    }

    /// To the places that lanes have in a register, behind `from`. Those with another place than the first come again.
    void jump_by_register(Group& group, const Instruction& instruction, std::uint64_t from) {
        const Lanes targets = warp_.value(instruction.operands[0]);
        const std::uint32_t first = targets[first_lane(group.lanes)];
        const LaneMask same = group.lanes & lanes_where([&](int lane) { return targets[lane] == first; });
        const LaneMask others = group.lanes & ~same;
        const std::uint32_t here = group.at;
        trace_.back().taken = true;
        group.lanes = same;
        group.at = static_cast<std::uint32_t>(from + first) / instruction_bytes;
        if (others != 0) groups_.push_back({.lanes = others, .at = here});
    }

    void branch_unless_converged(Group& group, const Instruction& instruction, LaneMask lanes) {
        const LaneMask expected = warp_.value(instruction.operands[0])[0] & live();
        jump(group, lanes == expected ? 0 : lanes, target_of(instruction));
    }

    void give_back(Group& group, const Instruction& instruction, LaneMask lanes) {
        if (lanes != group.lanes) throw NotUnderstood("the model does not know a return of some lanes only");
        jump_by_register(group, instruction, 0);
    }

    void exit(Group& group, LaneMask lanes) {
        ++group.at;
        group.lanes &= ~lanes;
        trace_.back().taken = live() == 0;
        std::erase_if(groups_, [](const Group& other) { return other.lanes == 0; });
        for (LaneMask& barrier : barriers_) barrier &= ~lanes;
        release_barriers();
    }

    /// Lets those go on that have met at a BSYNC or a WARPSYNC.
    void release_barriers() {
        for (std::size_t k = 0; k < groups_.size(); ++k) {
            const Group waiting = groups_[k];
            if (waiting.state != Group::State::at_barrier && waiting.state != Group::State::at_warp_sync)
                continue;
            const LaneMask members = waiting.awaited & live();
            const auto meets =
                [&](const Group& other) { // A function that calls itself waits at one place for several.
                    return other.at == waiting.at && other.state == waiting.state &&
                           other.awaited == waiting.awaited;
                };
            LaneMask met = 0;
            for (const Group& other : groups_) met |= meets(other) ? other.lanes : 0;
            if ((members & ~met) != 0) continue;
            for (Group& other : groups_) {
                if (!meets(other)) continue;
                other.state = Group::State::ready;
                ++other.at;
            }
            join_where([&](const Group& other) { return other.at == waiting.at + 1; });
            k = static_cast<std::size_t>(-1); // once more: places have changed
        }
    }

    void sync_warp(Group& group, const Instruction& instruction, LaneMask lanes) {
        group.state = Group::State::at_warp_sync;
        group.awaited = group.lanes;
        if (lanes != 0)
            group.awaited =
                instruction.has("ALL") ? all_lanes : warp_.value(instruction.operands[0])[first_lane(lanes)];
        release_barriers();
    }

    void leave_barrier(Group& group, std::uint8_t barrier, LaneMask lanes) {
        for (Group& other : groups_) {
            const bool waits_there =
                other.state == Group::State::at_barrier && other.awaited == barriers_[barrier];
            if (waits_there) other.awaited &= ~lanes;
        }
        barriers_[barrier] &= ~lanes;
        ++group.at;
        release_barriers();
    }

    /// BMOV.32.CLEAR R2, B6 or BMOV.32 B6, R2: a function keeps the barrier of its caller.
    void move_barrier(const Instruction& instruction, LaneMask lanes) {
        const Operand &to = instruction.operands.at(0), &from = instruction.operands.at(1);
        if (to.kind == Operand::Kind::barrier) {
            barriers_[to.index] = warp_.value(from)[first_lane(lanes)];
            return;
        }
        Lanes masks;
        masks.fill(barriers_[from.index]);
        warp_.write(to, lanes, masks);
        if (instruction.has("CLEAR")) barriers_[from.index] = 0;
    }

    void check_barrier(const Instruction& instruction, LaneMask lanes) {
        const bool reduces = instruction.has("RED");
        const bool is_plain =
            instruction.operands.size() == (reduces ? 2 : 1) && instruction.operands[0].bits == 0;
        if (!is_plain || lanes == 0)
            throw NotUnderstood("the model does not know a barrier of some threads, " + instruction.text);
        if (!reduces) return;
        for (const char* operation : {"POPC", "AND", "OR"})
            if (instruction.has(operation))
                warp_.block().reduce_at_barrier(operation, lanes, warp_.predicate(instruction.operands[1]));
    }

    /// Makes one group of those that are ready at the same place, if `may_join` says so.
    template <class Condition> void join_where(Condition may_join) {
        for (std::size_t k = 0; k < groups_.size(); ++k) {
            Group& first = groups_[k];
            if (first.state != Group::State::ready || !may_join(first)) continue;
            for (std::size_t j = k + 1; j < groups_.size(); ++j) {
                Group& other = groups_[j];
                if (other.state != Group::State::ready || other.at != first.at) continue;
                first.lanes |= other.lanes;
                other.lanes = 0;
            }
        }
        std::erase_if(groups_, [](const Group& group) { return group.lanes == 0; });
    }

    LaneMask live() const {
        LaneMask lanes = 0;
        for (const Group& group : groups_) lanes |= group.lanes;
        return lanes;
    }

    const Code& code_;
    Warp warp_;
    const Deadline deadline_;
    std::vector<Group> groups_;
    std::array<LaneMask, 256> barriers_{};
    timing::WarpTrace trace_;
};

} // namespace

InterpretedBlock interpret(const Code& code, const LaunchView& launch, std::uint64_t block,
                           std::size_t max_steps, const Counters* counters, Deadline deadline) {
    BlockState state(launch, code.constants, block);
    if (counters) state.add_to_counters(*counters, launch.grid.count() - 1);
    std::vector<WarpRun> warps;
    const auto count = static_cast<std::uint32_t>((launch.block.count() + warp_size - 1) / warp_size);
    warps.reserve(count);
    for (std::uint32_t k = 0; k < count; ++k) warps.emplace_back(code, state, k, deadline);
    for (bool all_exited = false; !all_exited;) {
        for (bool can_go_on = true; can_go_on;) {
            can_go_on = false;
            for (WarpRun& warp : warps) can_go_on |= warp.run_turn(max_steps);
        }
        all_exited = true;
        for (const WarpRun& warp : warps) {
            if (warp.has_exited()) continue;
            all_exited = false;
            if (!warp.waits_for_block())
                throw NotUnderstood("lanes of a warp wait for each other without end");
        }
        state.pass_barrier();
        for (WarpRun& warp : warps) warp.pass_block_barrier();
    }
    InterpretedBlock result{.trace = {},
                            .atomic_sectors = std::move(state.atomic_sectors()),
                            .loaded = std::move(state.loaded()),
                            .stored = std::move(state.stored()),
                            .places = std::move(state.places()),
                            .used_sectors = state.used_sectors(),
                            .counters = std::move(state.counters())};
    for (WarpRun& warp : warps) result.trace.push_back(warp.take_trace());
    return result;
}

} // namespace emulator::machine_code

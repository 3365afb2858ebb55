#include "emulator/check/sync/block_barriers.hpp"

#include "emulator/text.hpp"

#include <algorithm>
#include <string>

namespace emulator {

namespace {

/// Whether a thread can go from one instruction to the other without going back, and find more there than the
/// function's end. A thread that leaves early takes another path, or goes only to the end.
bool goes_on(const Code& code, std::uint32_t from, std::uint32_t to) {
    const auto ends = [&](std::uint32_t pc) {
        const ptx::Statement* const statement = code.statements[pc];
        return !statement ||
               (!statement->guarded && (statement->opcode == "ret" || statement->opcode == "exit"));
    };
    if (to <= from || ends(to)) return false;
    std::vector<bool> reached(to + 1);
    reached[from + 1] = true;
    for (std::uint32_t pc = from + 1; pc < to; ++pc) {
        if (!reached[pc] || ends(pc)) continue;
        const Instruction& instruction = code.instructions[pc];
        const bool branches = instruction.is_branch;
        if (branches && instruction.target > pc && instruction.target <= to)
            reached[instruction.target] = true;
        if (!branches || code.statements[pc]->guarded) reached[pc + 1] = true;
    }
    return reached[to];
}

} // namespace

void BlockBarriers::start() {
    for (Barrier& barrier : barriers_) barrier.forget();
}

void BlockBarriers::arrive(const Warp& warp, const Instruction& instruction, const BarrierArrival& arrival) {
    Barrier& barrier = barriers_[arrival.barrier];
    if (arrival.expected == 0 && warp.live() != arrival.lanes) note_detours(warp, instruction, arrival);
    if (barrier.instruction == &instruction && barrier.expected == arrival.expected) return;
    const LaneGroup here{warp.index(), arrival.lanes, findings_.id(warp, instruction)};
    if (!barrier.instruction) {
        barrier.instruction = &instruction;
        barrier.expected = arrival.expected;
        barrier.first = here;
    } else {
        if (barrier.expected != arrival.expected) found_different_numbers(warp, arrival, here, barrier);
        barrier.elsewhere.push_back(here);
    }
}

void BlockBarriers::complete(const Block& block, const BarrierCompletion& completion) {
    check_that_lanes_are_together(block, completion);
    check_that_none_went_around(block, completion);
}

void BlockBarriers::check_that_lanes_are_together(const Block& block, const BarrierCompletion& completion) {
    const Barrier& barrier = barriers_[completion.barrier];
    for (const LaneGroup& group : barrier.elsewhere) {
        // The warp's remaining lanes have arrived at the first instruction.
        LaneGroup other{group.warp, completion.arrived[group.warp], barrier.first.id};
        for (const LaneGroup& third : barrier.elsewhere)
            if (third.warp == group.warp) other.lanes &= ~third.lanes;
        for (const LaneGroup& third : barrier.elsewhere)
            if (other.lanes == 0 && third.warp == group.warp && third.id != group.id) other = third;
        if (other.lanes == 0 || other.id == group.id) continue;
        if (is_aligned(other.id) || is_aligned(group.id))
            return found_divergent(block, completion.barrier, other, group);
    }
}

void BlockBarriers::note_detours(const Warp& warp, const Instruction& instruction,
                                 const BarrierArrival& arrival) {
    const ConvergenceGroup& running = warp.running();
    const Code& code = *running.frame->code;
    const std::uint32_t here = code.index_of(instruction);
    const LaneGroup waiting{warp.index(), arrival.lanes, findings_.id(code, here)};
    if (!is_aligned(waiting.id)) return;
    const auto note = [&](LaneMask lanes, std::uint32_t pc) {
        if (lanes != 0 && goes_on(code, here, pc))
            barriers_[arrival.barrier].detours.push_back(
                {waiting, {warp.index(), lanes, findings_.id(code, pc)}});
    };
    note(running.lanes & ~arrival.lanes, here + 1);
    for (const ConvergenceGroup& other : warp.others())
        if (other.wait == Wait::nothing && other.frame == running.frame) note(other.lanes, other.pc);
}

/// Lanes that reach the barrier after all, in another iteration, have not bypassed it.
void BlockBarriers::check_that_none_went_around(const Block& block, const BarrierCompletion& completion) {
    for (const Detour& detour : barriers_[completion.barrier].detours) {
        LaneGroup gone = detour.behind;
        gone.lanes &= ~completion.arrived[gone.warp] & ~block.warps()[gone.warp]->live();
        if (gone.lanes != 0) return found_detour(block, completion.barrier, detour.waiting, gone);
    }
}

/// Whether all lanes of a warp have to execute the same one. `bar` is short for `barrier.aligned`.
bool BlockBarriers::is_aligned(InstructionId id) const {
    const ptx::Statement& statement = *findings_.ids().code(id).statements[InstructionIds::pc(id)];
    return statement.opcode == "bar" ||
           std::any_of(statement.modifiers.begin(), statement.modifiers.end(),
                       [](const ptx::Modifier& modifier) { return modifier.text == ".aligned"; });
}

void BlockBarriers::found_different_numbers(const Warp& warp, const BarrierArrival& arrival,
                                            const LaneGroup& here, const Barrier& barrier) {
    const LaneGroup& other = barrier.first;
    findings_.add(SyncFindings::Kind::different_numbers, here.id, other.id, [&] {
        const auto whom = [](std::uint32_t expected) {
            return expected == 0 ? "all threads" : number_of(expected, "thread");
        };
        return findings_.finding("wrong number of threads",
                                 "barrier " + std::to_string(arrival.barrier) + " is for " +
                                     whom(arrival.expected) + " here, but for " + whom(barrier.expected) +
                                     " for those that already wait there",
                                 {findings_.party_of("is here", warp.block(), here),
                                  findings_.party_of("waits there", warp.block(), other)},
                                 "All threads have to give a barrier the same thread count.");
    });
}

void BlockBarriers::found_divergent(const Block& block, std::uint32_t barrier, const LaneGroup& one,
                                    const LaneGroup& other) {
    findings_.add(SyncFindings::Kind::divergent, one.id, other.id, [&] {
        return findings_.finding(
            "barrier in divergent code",
            "lanes of warp " + std::to_string(one.warp) + " reach barrier " + std::to_string(barrier) +
                " at different instructions",
            {findings_.party_of("is here", block, one), findings_.party_of("is there", block, other)},
            "A __syncthreads() is in a branch that only some lanes of a warp take: all of them have to reach "
            "the same one.");
    });
}

void BlockBarriers::found_detour(const Block& block, std::uint32_t barrier, const LaneGroup& waiting,
                                 const LaneGroup& gone) {
    findings_.add(SyncFindings::Kind::not_reached, waiting.id, gone.id, [&] {
        return findings_.finding(
            "barrier not reached by all",
            lanes_in_words(gone.lanes) + " of warp " + std::to_string(gone.warp) + " bypassed barrier " +
                std::to_string(barrier) + " while other lanes of the warp waited there",
            {findings_.party_of("waits here", block, waiting), findings_.party_of("went on", block, gone)},
            "A __syncthreads() is in a branch: every thread that has not exited has to reach it.");
    });
}

} // namespace emulator

#include "emulator/check/sync/block_barriers.hpp"

#include "emulator/text.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace emulator {

void BlockBarriers::start() {
    for (Barrier& barrier : barriers_) barrier.forget();
    met_apart_.clear();
}

void BlockBarriers::arrive(const Warp& warp, const Instruction& instruction, const BarrierArrival& arrival) {
    Barrier& barrier = barriers_[arrival.barrier];
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

void BlockBarriers::complete(const Block& block, const BarrierCompletion& completion,
                             std::vector<LaneGroup>& exits) {
    const Barrier& barrier = barriers_[completion.barrier];
    if (barrier.elsewhere.empty() && exits.empty()) return;
    check_that_lanes_are_together(block, barrier, completion);
    if (completion.expected == 0) check_that_all_have_come(block, completion, exits);
}

void BlockBarriers::check_that_lanes_are_together(const Block& block, const Barrier& barrier,
                                                  const BarrierCompletion& completion) {
    for (const LaneGroup& group : barrier.elsewhere) {
        // Those of the warp that have not come elsewhere have come to the first instruction.
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

/// Whether all lanes of a warp have to execute the same one. `bar` is short for `barrier.aligned`.
bool BlockBarriers::is_aligned(InstructionId id) const {
    const ptx::Statement& statement = *findings_.ids().code(id).statements[InstructionIds::pc(id)];
    return statement.opcode == "bar" ||
           std::any_of(statement.modifiers.begin(), statement.modifiers.end(),
                       [](const ptx::Modifier& modifier) { return modifier.text == ".aligned"; });
}

void BlockBarriers::check_that_all_have_come(const Block& block, const BarrierCompletion& completion,
                                             std::vector<LaneGroup>& exits) {
    const Barrier& barrier = barriers_[completion.barrier];
    std::uint64_t threads = 0;
    const LaneGroup* first = nullptr; // not reported yet
    for (LaneGroup& exit : exits) {
        const LaneMask missing = exit.lanes & ~completion.arrived[exit.warp];
        threads += static_cast<std::uint64_t>(std::popcount(missing));
        if (missing != 0 && !std::exchange(exit.is_reported, true) && !first) first = &exit;
    }
    if (first) found_not_reached(block, completion.barrier, barrier.first, *first, threads);
    if (threads == 0 && !barrier.elsewhere.empty()) met_apart_ = {barrier.first, barrier.elsewhere.back()};
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
                                     " to those who wait there already",
                                 {findings_.party_of("is here", warp.block(), here),
                                  findings_.party_of("waits there", warp.block(), other)},
                                 "All threads have to give a barrier the same number of threads.");
    });
}

void BlockBarriers::found_divergent(const Block& block, std::uint32_t barrier, const LaneGroup& one,
                                    const LaneGroup& other) {
    findings_.add(SyncFindings::Kind::divergent, one.id, other.id, [&] {
        return findings_.finding(
            "barrier in divergent code",
            "lanes of warp " + std::to_string(one.warp) + " come to barrier " + std::to_string(barrier) +
                " at different places",
            {findings_.party_of("is here", block, one), findings_.party_of("is there", block, other)},
            "A __syncthreads() stands in a branch that only some lanes of a warp take: all of "
            "them have to come to the same one.");
    });
}

void BlockBarriers::found_not_reached(const Block& block, std::uint32_t barrier, const LaneGroup& waiting,
                                      const LaneGroup& exit, std::uint64_t threads) {
    findings_.add(SyncFindings::Kind::not_reached, waiting.id, exit.id, [&] {
        std::vector<Party> parties = {findings_.party_of("waits here", block, waiting),
                                      findings_.party_of("has exited", block, exit)};
        for (const LaneGroup& group : met_apart_)
            parties.push_back(findings_.party_of("was here at it before", block, group));
        return findings_.finding(
            "barrier not reached by all",
            "barrier " + std::to_string(barrier) + " is for all threads of the block, but " +
                number_of(threads, "thread") + " of " +
                thousands(findings_.grid().configuration.block.count()) + " exited without coming to it",
            std::move(parties),
            "A return, or a branch around the barrier, keeps threads from it: every thread of "
            "the block has to reach each __syncthreads().");
    });
}

} // namespace emulator

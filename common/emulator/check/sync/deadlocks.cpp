#include "emulator/check/sync/block_barriers.hpp"
#include "emulator/check/sync/mask_waits.hpp"
#include "emulator/text.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

namespace emulator {

namespace {

struct Waiting {
    LaneGroup group;
    const ConvergenceGroup* converged;
    std::optional<MbarrierWaits::Wait> mbarrier;
};

/// Who waits, and at what.
struct Waits {
    bool at_mbarrier_in_use = false; ///< at one that was initialized again
    std::string text;                ///< "32 threads wait at barrier 1, 32 threads wait at barrier 2"
    std::vector<Party> parties;
    std::vector<InstructionId> places;

    void add(std::uint64_t threads, const std::string& what) {
        text += (text.empty() ? "" : ", ") + number_of(threads, "thread") + " wait " + what;
    }
};

template <class Which> std::uint64_t number_of_threads(const std::vector<Waiting>& all, Which which) {
    std::uint64_t threads = 0;
    for (const Waiting& waiting : all)
        if (which(waiting)) threads += static_cast<std::uint64_t>(std::popcount(waiting.group.lanes));
    return threads;
}

/// Whether one of them expects more threads than can arrive.
bool list_barriers(const SyncFindings& findings, Waits& waits, const Block& block,
                   const BlockBarriers& barriers, const std::vector<Waiting>& all) {
    bool too_many = false;
    for (std::uint32_t barrier = 0; barrier < Block::barrier_count; ++barrier) {
        const auto is_here = [&](const Waiting& waiting) {
            return waiting.converged->wait == Wait::block_barrier && waiting.converged->barrier == barrier;
        };
        const std::uint64_t threads = number_of_threads(all, is_here);
        if (threads == 0) continue;
        const std::string at_barrier = "at barrier " + std::to_string(barrier);
        for (const Waiting& waiting : all) {
            if (!is_here(waiting)) continue;
            if (std::find(waits.places.begin(), waits.places.end(), waiting.group.id) != waits.places.end())
                continue;
            waits.places.push_back(waiting.group.id);
            waits.parties.push_back(findings.party_of("waits " + at_barrier, block, waiting.group));
        }
        const std::uint32_t expected = barriers.expected(barrier);
        too_many = too_many || expected > block.warps().size() * warp_size;
        waits.add(threads, at_barrier + (expected != 0 ? " for " + std::to_string(expected) : ""));
    }
    return too_many;
}

void list_mbarriers(SyncFindings& findings, Waits& waits, const Block& block,
                    const std::vector<Waiting>& all) {
    for (auto waiting = all.begin(); waiting != all.end(); ++waiting) {
        const auto is_here = [&](const Waiting& other) {
            return other.mbarrier && other.mbarrier->owner == waiting->mbarrier->owner &&
                   other.mbarrier->offset == waiting->mbarrier->offset;
        };
        if (!waiting->mbarrier || std::any_of(all.begin(), waiting, is_here)) continue;
        waits.add(number_of_threads(all, is_here), in_words(*waiting->mbarrier));
        const MbarrierWaits& of_owner = waiting->mbarrier->owner->mbarrier_waits();
        if (!of_owner.last_note(waiting->mbarrier->offset).empty()) waits.at_mbarrier_in_use = true;
        waits.places.push_back(waiting->group.id);
        waits.parties.push_back(findings.party_of(
            "waits at the mbarrier at " + hexadecimal(waiting->mbarrier->offset), block, waiting->group));
    }
}

void list_cluster_barrier(SyncFindings& findings, Waits& waits, const Block& block,
                          const std::vector<Waiting>& all) {
    const auto is_here = [](const Waiting& waiting) {
        return waiting.converged->wait == Wait::cluster_barrier;
    };
    const auto first = std::find_if(all.begin(), all.end(), is_here);
    if (first == all.end()) return;
    waits.add(number_of_threads(all, is_here), "at the cluster barrier");
    waits.parties.push_back(findings.party_of("waits at the cluster barrier", block, first->group));
}

void found_wait_for_members(SyncFindings& findings, const Block& block, const std::vector<Waiting>& all,
                            const Waiting& first) {
    LaneMask present = 0;
    for (const Waiting& waiting : all)
        if (waiting.group.warp == first.group.warp && waiting.group.id == first.group.id &&
            waiting.converged->members == first.converged->members)
            present |= waiting.group.lanes;
    const LaneMask missing = first.converged->members & block.warps()[first.group.warp]->live() & ~present;
    std::vector<LaneGroup> elsewhere;
    for (const Waiting& waiting : all)
        if (waiting.group.warp == first.group.warp && (waiting.group.lanes & missing) != 0)
            elsewhere.push_back(waiting.group);
    findings.add(SyncFindings::Kind::deadlock, first.group.id,
                 elsewhere.empty() ? first.group.id : elsewhere.front().id, [&] {
                     std::vector<Party> parties = {findings.party_of("waits here", block, first.group)};
                     for (const LaneGroup& group : elsewhere)
                         parties.push_back(findings.party_of("waits elsewhere", block, group));
                     return findings.finding(
                         lanes_do_not_come,
                         lanes_in_words(present) + " of warp " + std::to_string(first.group.warp) +
                             " wait for " + lanes_in_words(missing) + ", which their mask " +
                             hexadecimal(first.converged->members) + " names, and which wait elsewhere",
                         std::move(parties), cause_of_missing_lanes);
                 });
}

void found_wait_at_barriers(SyncFindings& findings, const Block& block, const BlockBarriers& barriers,
                            const std::vector<LaneGroup>& exits, const std::vector<Waiting>& all) {
    Waits waits;
    const bool too_many = list_barriers(findings, waits, block, barriers, all);
    const bool at_mbarriers_only = waits.places.empty();
    list_mbarriers(findings, waits, block, all);
    list_cluster_barrier(findings, waits, block, all);
    findings.add(SyncFindings::Kind::deadlock, waits.places.front(), waits.places.back(), [&] {
        if (!exits.empty()) waits.parties.push_back(findings.party_of("has exited", block, exits.front()));
        const std::string message = "no thread of the block can go on: " + waits.text;
        return too_many
                   ? findings.finding("wrong number of threads",
                                      message + "; the block has " +
                                          number_of(findings.grid().configuration.block.count(), "thread"),
                                      std::move(waits.parties),
                                      "A named barrier expects more threads than can arrive.")
                   : findings.finding(
                         "barrier not reached by all", message, std::move(waits.parties),
                         waits.at_mbarrier_in_use
                             ? "An mbarrier is initialized again while threads wait or may still "
                               "arrive there: put a __syncthreads() in front, and mbarrier.inval."
                         : at_mbarriers_only
                             ? "An mbarrier's phase ends after as many arrivals as it was "
                               "initialized for: one is missing, or the number is too high."
                             : "The threads disagree on which barriers they wait at, or on the "
                               "thread counts of those barriers.");
    });
}

} // namespace

void found_deadlock(SyncFindings& findings, const Block& block, const BlockBarriers& barriers,
                    const std::vector<LaneGroup>& exits) {
    std::vector<Waiting> all;
    for (const WaitingLanes& lanes : block.waiting())
        all.push_back({{lanes.warp->index(), lanes.lanes, findings.id(*lanes.code, lanes.pc)},
                       lanes.converged,
                       lanes.mbarrier});
    const auto of_mask = std::find_if(all.begin(), all.end(), [](const Waiting& waiting) {
        return waiting.converged->wait == Wait::warp_sync;
    });
    if (of_mask != all.end())
        found_wait_for_members(findings, block, all, *of_mask);
    else
        found_wait_at_barriers(findings, block, barriers, exits, all);
}

} // namespace emulator

/// \file
/// The barriers of clusters, and what is wrong in how threads come to them.
#pragma once

#include "emulator/check/sync/sync_findings.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/observer.hpp"

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emulator {

class ClusterBarriers {
public:
    explicit ClusterBarriers(SyncFindings& findings) : findings_(findings) {}

    void start(const Cluster& cluster) { first_[&cluster] = {}; }
    void arrive(const Block& block, const LaneGroup& group);
    /// `exits_of(block)`: the threads of a block that have exited; null: the block is out of step.
    template <class ExitsOf> void complete(const Cluster& cluster, ExitsOf exits_of);
    void found_no_wait(const Block& block, const LaneGroup& arrival, const LaneGroup& exit);

private:
    /// The first that came to the barrier of a cluster in its present phase.
    struct FirstArrival {
        const Block* block = nullptr; ///< null: nobody has come
        LaneGroup group;
    };

    void found_not_reached(const Cluster& cluster, const FirstArrival& waiting, const Block& block,
                           const LaneGroup& exit, std::uint64_t threads);

    SyncFindings& findings_;
    std::unordered_map<const Cluster*, FirstArrival> first_;
};

template <class ExitsOf> void ClusterBarriers::complete(const Cluster& cluster, ExitsOf exits_of) {
    const FirstArrival arrival = std::exchange(first_[&cluster], {});
    std::uint64_t threads = 0;
    const Block* block_of_first = nullptr; // not reported yet
    LaneGroup* first = nullptr;
    for (const auto& block : cluster.blocks()) {
        std::vector<LaneGroup>* const exits = exits_of(*block);
        if (!exits) return;
        for (LaneGroup& exit : *exits) {
            const LaneMask missing = exit.lanes & ~cluster.arrived(*block->warps()[exit.warp]);
            threads += static_cast<std::uint64_t>(std::popcount(missing));
            if (missing == 0 || std::exchange(exit.is_reported, true) || first) continue;
            first = &exit;
            block_of_first = block.get();
        }
    }
    if (first && arrival.block) found_not_reached(cluster, arrival, *block_of_first, *first, threads);
}

} // namespace emulator

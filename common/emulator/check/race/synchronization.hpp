/// The synchronizing events of a launch, as happens-before in and between its blocks.
#pragma once

#include "emulator/check/race/block_state.hpp"
#include "emulator/check/race/current_access.hpp"
#include "emulator/check/race/grid_order.hpp"
#include "emulator/machine/observer.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace emulator {

/// Fences, strong accesses and barriers order a block's threads by its MemoryOrder. Between blocks they do so
/// by the GridOrder, and the barrier of a cluster by its ClusterOrder.
class Synchronization {
public:
    /// `checks_global`: whether other blocks' accesses to global memory are checked. Without clusters each
    /// block is its own cluster.
    Synchronization(BlockStates& blocks, bool checks_global, bool has_clusters)
        : blocks_(blocks), orders_blocks_(checks_global || has_clusters), has_clusters_(has_clusters) {}

    /// The blocks of a cluster start in rank order, before any of them runs.
    void start(BlockState& state, const Block& block);
    /// Stamps restart: forget everything.
    void forget();

    // ---- fences, atomics and volatile accesses ----

    void acquire(const CurrentAccess& now);
    void release(const CurrentAccess& now);
    void fenced(const Warp& warp, const Instruction& instruction, InstructionId id);

    // ---- barriers ----

    void barrier_complete(Block& block, const BarrierCompletion& completion);
    void used_mbarrier(const Warp& warp, MbarrierUse use, const Block& owner, std::uint64_t offset);
    void cluster_barrier_arrive(const Warp& warp, const ClusterArrival& arrival);
    void cluster_barrier_complete(const Cluster& cluster);

    /// What a block has executed, for the text of a finding.
    const std::vector<SyncEvent>& history(std::uint32_t block) const { return grid_order_.history(block); }

private:
    bool orders_blocks(const CurrentAccess& now) const {
        return orders_blocks_ && (now.access.space == ptx::Space::global || has_clusters_);
    }
    std::uint64_t first_location(const CurrentAccess& now) const;
    template <class Visit> void for_each_location(const CurrentAccess& now, Visit visit) const;
    void remember(BlockState& state, const Warp& warp, SyncEvent event);

    BlockStates& blocks_;
    const bool orders_blocks_;
    const bool has_clusters_;
    GridOrder grid_order_;
    std::unordered_map<const Cluster*, ClusterOrder> clusters_; // storage, used again
};

} // namespace emulator

/// A cluster: blocks that run at the same time, access each other's shared memory, and share a barrier.
#pragma once

#include "emulator/machine/block.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace emulator {

/// Storage for one cluster at a time, like Block. In a launch without clusters each block is its own cluster.
///
/// Every thread that has not exited arrives at the barrier once per phase, and waits for the phase to end
/// before it arrives again.
class Cluster {
public:
    Cluster(const Grid& grid, std::span<Observer* const> observers);

    /// Begins the cluster with linear index `index` (x fastest).
    void start(std::uint64_t index);

    /// Runs for about `budget` warp instructions, all blocks in turn. Returns true when every thread has
    /// exited. \throws Error when a thread fails or a barrier can never complete.
    bool run(std::uint64_t budget);

    Dim3 index() const { return index_; }
    /// By their rank.
    std::span<const std::unique_ptr<Block>> blocks() const { return blocks_; }

    // ---- the barrier, for handlers ----

    /// Lanes of the warp that have arrived in the current phase.
    LaneMask arrived(const Warp& warp) const { return lanes_[place(warp)].arrived; }
    /// Lanes of the warp that have arrived but not yet waited for the end of the phase.
    LaneMask not_waited(const Warp& warp) const { return lanes_[place(warp)].not_waited; }

    void arrive(const Warp& warp, LaneMask lanes);
    void waited(const Warp& warp, LaneMask lanes) { lanes_[place(warp)].not_waited &= ~lanes; }

    /// The barrier no longer waits for them.
    void threads_exited(const Warp& warp, LaneMask lanes);

private:
    struct BarrierLanes {
        LaneMask arrived = 0, not_waited = 0;
    };

    std::size_t place(const Warp& warp) const {
        return warp.block().rank() * blocks_.front()->warps().size() + warp.index();
    }
    void end_phase_if_all_arrived();
    bool is_stuck() const; ///< no thread can go on
    void break_deadlock();

    const Grid& grid_;
    Dim3 index_{};
    std::vector<std::unique_ptr<Block>> blocks_;
    std::vector<Block*> order_;       ///< in which they run
    std::vector<BarrierLanes> lanes_; ///< of each warp
    std::uint64_t missing_ = 0;       ///< threads that have neither arrived at the barrier nor exited
    bool has_arrivals_ = false;       ///< in this phase
};

} // namespace emulator

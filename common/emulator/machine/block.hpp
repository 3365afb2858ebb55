/// A thread block: its warps, shared memory and barriers.
#pragma once

#include "emulator/machine/async_copies.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/machine/mbarrier_waits.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/program/decoder.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace emulator {

class Cluster;

/// Lanes that wait together.
struct WaitingLanes {
    const Warp* warp = nullptr;
    /// Its converged group, which shows what the lanes wait for, unless it is an mbarrier.
    const ConvergenceGroup* converged = nullptr;
    LaneMask lanes = 0;
    const Code* code = nullptr; ///< where they do
    std::uint32_t pc = 0;
    std::optional<MbarrierWaits::Wait> mbarrier; ///< which one, if it is one
};

/// Storage for one block at a time: `start` begins the next one in the same storage.
class Block {
public:
    /// Observers get this block's events; they outlive it.
    Block(const Grid& grid, std::span<Observer* const> observers, Cluster& cluster, std::uint32_t rank);

    void start(Dim3 index);

    /// Runs for about `budget` warp instructions, all warps in turn, or until no thread can go on. Returns
    /// the number executed. \throws Error when a thread fails.
    std::uint64_t run(std::uint64_t budget);

    bool is_finished() const { return live_threads_ == 0; } ///< every thread has exited

    /// Whether every thread that has not exited waits: at a barrier, for lanes that its mask names, or for an
    /// mbarrier's phase in a loop that does nothing else.
    bool is_stuck();
    /// Which threads of a stuck block wait where.
    std::vector<WaitingLanes> waiting() const;
    /// Releases them, if an observer absorbs the deadlock. \throws Error if none does.
    void break_deadlock();

    Cluster& cluster() const { return cluster_; }
    std::uint32_t rank() const { return rank_; } ///< in the cluster
    /// Where the block's shared memory begins in that of its cluster.
    std::uint64_t shared_base() const { return std::uint64_t{rank_} << shared_rank_shift; }

    const Grid& grid() const { return grid_; }
    Dim3 index() const { return index_; }
    std::span<Observer* const> observers() const { return observers_; }
    /// The observers that subscribe to such events.
    std::span<Observer* const> subscribers(EventKind kind) const {
        return subscribers_[static_cast<std::size_t>(kind)];
    }
    const std::vector<std::unique_ptr<Warp>>& warps() const { return warps_; }
    std::span<std::byte> shared() { return {shared_.get(), shared_bytes_}; }
    std::span<const std::byte> shared() const { return {shared_.get(), shared_bytes_}; }

    /// The allocation that holds `bytes` bytes at `address`, or null; also null if this device cannot access it. Remembers the last two, which the next
    /// access will probably use.
    const Allocation* allocation(std::uint64_t address, std::size_t bytes) {
        if (likely_[0] && likely_[0]->contains(address, bytes)) return likely_[0];
        return find_allocation(address, bytes);
    }

    /// What a special register reads as, in `lane` of the warp with index `warp`.
    std::uint32_t special(Special which, std::uint32_t warp, int lane) const;

    /// `lanes` of a warp have executed this many instructions, this many of them block barriers.
    void count(std::uint64_t instructions, LaneMask lanes, std::uint64_t barriers) {
        const auto threads = static_cast<std::uint64_t>(std::popcount(lanes));
        turn_counts_.warp_instructions += instructions;
        turn_counts_.thread_instructions += instructions * threads;
        // Lanes of a warp may arrive at a barrier at different times: count lanes.
        turn_counts_.thread_barriers += barriers * threads;
    }

    AsyncCopies& async_copies() { return async_copies_; }       ///< to this block's shared memory
    MbarrierWaits& mbarrier_waits() { return mbarrier_waits_; } ///< of this block's threads
    const MbarrierWaits& mbarrier_waits() const { return mbarrier_waits_; }

    // ---- barriers, for handlers ----

    static constexpr std::uint32_t barrier_count = 16;

    /// `lanes` of `warp` have arrived at barrier `which`, `truths` of them with a true predicate. The barrier
    /// completes with `expected` threads (0: all that have not exited).
    void arrive(std::uint32_t which, const Warp& warp, LaneMask lanes, std::uint32_t expected,
                std::uint32_t truths);

    /// This many threads have exited: barriers no longer wait for them.
    void threads_exited(const Warp& warp, LaneMask lanes);

private:
    struct Barrier {
        /// Of each warp, those that have arrived.
        std::array<LaneMask, DeviceLimits::threads_per_block / warp_size> lanes{};
        std::uint32_t arrived = 0;  ///< threads
        std::uint32_t expected = 0; ///< 0: all living threads
        std::uint32_t truths = 0;   ///< arrived with a true predicate
    };

    const Allocation* find_allocation(std::uint64_t address, std::size_t bytes);
    std::uint64_t run_round(std::uint64_t budget);
    std::uint64_t run_shuffled_round();
    std::uint64_t run_warp(Warp& warp, std::uint64_t budget);
    void complete_if_all_arrived(std::uint32_t which);
    void complete(std::uint32_t which);
    template <class Visit> void for_each_group(Visit visit) const;

    const Grid& grid_;
    std::span<Observer* const> observers_;
    std::array<std::vector<Observer*>, event_kinds> subscribers_;
    Cluster& cluster_;
    std::uint32_t rank_;
    Dim3 index_{};
    std::uint32_t threads_;
    std::uint32_t live_threads_ = 0;
    TurnCounts turn_counts_; ///< in this turn
    std::uint32_t shared_bytes_;
    std::unique_ptr<std::byte[]> shared_;
    std::vector<std::unique_ptr<Warp>> warps_;
    std::array<Barrier, barrier_count> barriers_{};
    /// One bit per barrier at which some threads have arrived, and not all.
    std::uint32_t begun_barriers_ = 0;
    std::array<const Allocation*, 2> likely_{}; ///< the last one first
    AsyncCopies async_copies_;
    MbarrierWaits mbarrier_waits_;
};

} // namespace emulator

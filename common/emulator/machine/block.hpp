/// \file
/// A thread block: its warps, shared memory and barriers.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/observe/observer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace emulator {

struct Fault;
class Schedule;

/// What all blocks of a launch share.
struct Launch {
    const Kernel& kernel;
    LaunchConfiguration configuration;
    std::span<const std::byte> parameters;
    GlobalMemory& memory;
    std::uint32_t stack_bytes = 0; ///< local memory of a thread
    Schedule* schedule = nullptr;  ///< null: the usual order
};

/// Storage for one block at a time: `start` begins the next one in the same place.
class Block {
public:
    /// Observers get this block's events; they outlive it.
    Block(const Launch& launch, std::span<Observer* const> observers);

    /// Begins the block with linear index `index` (x fastest).
    void start(std::uint64_t index);

    /// Runs for about `budget` warp instructions, all warps in turn. Returns true when every thread has
    /// exited. \throws Error when a thread fails or a barrier can never complete.
    bool run(std::uint64_t budget);

    const Launch& launch() const { return launch_; }
    Dim3 index() const { return index_; }
    std::span<Observer* const> observers() const { return observers_; }
    std::span<Observer* const> execution_followers() const { return execution_followers_; }
    const std::vector<std::unique_ptr<Warp>>& warps() const { return warps_; }
    std::span<std::byte> shared() { return {shared_.get(), shared_bytes_}; }

    /// The allocation that holds `bytes` bytes at `address`, or null. Remembers it, since the next access is
    /// likely there too.
    const Allocation* allocation(std::uint64_t address, std::size_t bytes);
    const Allocation* last_allocation() const { return last_allocation_; }

    /// What a special register reads as, in `lane` of the warp with index `warp`.
    std::uint32_t special(Special which, std::uint32_t warp, int lane) const;

    // ---- barriers, for handlers ----

    static constexpr std::uint32_t barrier_count = 16;

    /// `lanes` of `warp` have arrived at barrier `which`, `truths` of them with a true predicate; it
    /// completes with `expected` threads (0: all that have not exited).
    void arrive(std::uint32_t which, const Warp& warp, LaneMask lanes, std::uint32_t expected,
                std::uint32_t truths);

    /// So many threads have exited: barriers no longer wait for them.
    void threads_exited(std::uint32_t threads);

private:
    struct Barrier {
        std::array<LaneMask, DeviceLimits::threads_per_block / warp_size>
            lanes{};                ///< of each warp that have arrived
        std::uint32_t arrived = 0;  ///< threads
        std::uint32_t expected = 0; ///< 0: all living threads
        std::uint32_t truths = 0;   ///< arrived with a true predicate
    };

    std::uint64_t run_round();
    std::uint64_t run_shuffled_round();
    std::uint64_t run_warp(Warp& warp, std::uint64_t budget);
    void complete_if_all_arrived(std::uint32_t which);
    void complete(std::uint32_t which);
    void break_deadlock();
    [[noreturn]] void report_deadlock() const;
    [[noreturn]] void report(const Fault& fault, const Warp& warp) const;

    const Launch& launch_;
    std::span<Observer* const> observers_;
    std::vector<Observer*> execution_followers_; ///< those of them that want to know of executed()
    Dim3 index_{};
    std::uint32_t threads_;
    std::uint32_t live_threads_ = 0;
    std::uint32_t shared_bytes_;
    std::unique_ptr<std::byte[]> shared_;
    std::vector<std::unique_ptr<Warp>> warps_;
    std::array<Barrier, barrier_count> barriers_{};
    const Allocation* last_allocation_ = nullptr;
};

} // namespace emulator

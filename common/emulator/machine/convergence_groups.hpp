/// The lanes of a warp that execute together, and which of them run.
#pragma once

#include "emulator/machine/call_stack.hpp"
#include "emulator/program/lanes.hpp"

#include <cstdint>
#include <vector>

namespace emulator {

class Schedule;

enum class Wait : std::uint8_t {
    nothing,
    block_barrier,   ///< `bar.sync`: for other threads of the block
    cluster_barrier, ///< `barrier.cluster.wait`: for other threads of the cluster
    warp_sync,       ///< `bar.warp.sync`, shuffles, votes: for the lanes that the mask names
};

/// Lanes at the same instruction of the same call frame, which execute together.
struct ConvergenceGroup {
    Frame* frame = nullptr;
    std::uint32_t pc = 0;
    LaneMask lanes = 0;
    Wait wait = Wait::nothing;
    std::uint32_t barrier = 0; ///< which one, for block_barrier
    LaneMask members = 0;      ///< whom it waits for, for warp_sync
    std::uint64_t chosen = 0;  ///< when it was last chosen to run
};

/// Lanes may diverge: then a warp consists of several convergence groups. The group with the lowest program
/// counter runs, so that it meets the others again where their paths reconverge. It may spin until another
/// group acts, so after a while all of them take turns. A Schedule chooses at random instead.
class ConvergenceGroups {
public:
    explicit ConvergenceGroups(Schedule* schedule) : schedule_(schedule) {}

    /// One group, at the first instruction of the kernel.
    void start(Frame& frame, LaneMask lanes);

    ConvergenceGroup& running() { return running_; } ///< no lanes run: none left, or all wait
    const ConvergenceGroup& running() const { return running_; }
    std::vector<ConvergenceGroup>& others() { return others_; } ///< ready or waiting
    const std::vector<ConvergenceGroup>& others() const { return others_; }

    bool have_diverged() const { return !others_.empty(); }
    bool are_random() const { return schedule_ != nullptr; }

    /// `lanes` of the running group jump to `target`, the others stay.
    void send(LaneMask lanes, std::uint32_t target);
    /// Sometimes makes some of the running lanes stay behind.
    void diverge_randomly();

    /// Chooses the group that runs next: a ready one if there is any.
    void reschedule();
    /// The first instruction after the running one at which other lanes of the same call frame are ready.
    std::uint32_t reconvergence_point() const;

    /// The running group has executed `count` instructions. After many of them, the order of choice changes.
    void executed(std::uint64_t count);
    /// The running group was the only one.
    void begin_slice() { slice_ = 0; }
    /// The running group spins until others act.
    void take_turns() {
        if (others_.empty()) return;
        in_turns_ = true;
        slice_ = 0;
    }

    /// Releases the lanes that wait at `barrier`. A `bar.red` among them gets its result from `truths` of
    /// `threads`.
    void release_block_barrier(std::uint32_t barrier, std::uint32_t truths, std::uint32_t threads);
    /// Releases and returns the lanes that wait at the cluster barrier.
    LaneMask release_cluster_barrier();

private:
    template <class Visit> void for_each(Visit visit) {
        visit(running_);
        for (ConvergenceGroup& other : others_) visit(other);
    }
    void reconverge();
    ConvergenceGroup& choose();
    ConvergenceGroup& choose_at_random();

    Schedule* schedule_;
    ConvergenceGroup running_;
    std::vector<ConvergenceGroup> others_;
    std::uint64_t slice_ = 0; ///< instructions since the order of choice last changed
    bool in_turns_ = false;   ///< choose the group that has not run for longest
    std::uint64_t choices_ = 0;
};

} // namespace emulator

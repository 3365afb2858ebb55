/// \file
/// A warp: 32 lanes, their registers and program counters.
#pragma once

#include "emulator/program/code.hpp"
#include "emulator/program/lanes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace emulator {

class Block;
class Schedule;

/// A call frame: the registers of all lanes that entered through the same call site.
struct Frame {
    const Code* code = nullptr;
    std::byte* rows = nullptr;
    Frame* caller = nullptr;           ///< null for the kernel itself
    const Instruction* call = nullptr; ///< in the caller's code
    std::uint32_t depth = 0;
    std::uint32_t room = 0;               ///< local memory past the frame, allocated by `alloca`
    std::uint32_t local_base = 0;         ///< where the frame starts in each lane's local memory
    LaneMask lanes = 0;                   ///< those that have not returned or exited
    std::unique_ptr<std::byte[]> storage; ///< what `rows` points into
};

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
class Warp {
public:
    /// Prepares storage for a launch; `index` is the warp's place in its block.
    Warp(Block& block, std::uint32_t index);

    /// Puts `lanes` at the kernel's first instruction.
    void start(LaneMask lanes);

    /// Runs until nothing is ready or about `budget` instructions have been executed. Returns how many were.
    std::uint64_t run(std::uint64_t budget);

    LaneMask live() const { return live_; } ///< lanes that have not exited
    bool finished() const { return live_ == 0; }
    std::uint32_t index() const { return index_; }
    Block& block() const { return block_; }
    const ConvergenceGroup& running() const { return running_; } ///< no lanes run: none left, or all wait
    const std::vector<ConvergenceGroup>& others() const { return others_; }

    // ---- registers and local memory, for handlers ----

    /// The 32 cells of `row` in the running frame.
    template <class T> T* cells(Row row) const { return reinterpret_cast<T*>(rows_ + row); }
    LaneMask& predicate(Row row) const { return *reinterpret_cast<LaneMask*>(rows_ + row); }

    /// The value that `lane` is about to store with `instruction`.
    std::array<std::byte, 16> stored_value(const Instruction& instruction, int lane) const;

    std::byte* local(int lane) const { return local_.get() + static_cast<std::size_t>(lane) * local_bytes_; }
    std::uint32_t local_bytes() const { return local_bytes_; } ///< of each lane
    std::uint32_t local_base() const { return running_.frame->local_base; }

    // ---- what control instructions do with the running lanes ----

    void advance() { ++running_.pc; }
    void jump(std::uint32_t target) { running_.pc = target; }

    /// `taken` jump to `target`, the others continue.
    void split(LaneMask taken, std::uint32_t target);

    /// `group` jump to `target`, the others stay.
    void send(LaneMask group, std::uint32_t target);

    void exit_running();
    void call(const Instruction& instruction, const Code& callee);
    void return_from_function();
    /// Allocates `bytes` more bytes of the running frame's local memory; returns their offset. \throws Fault
    /// if there are too few.
    std::uint64_t allocate_stack(const Instruction& instruction, std::uint64_t bytes,
                                 std::uint64_t alignment);

    /// They wait here for `release_block_barrier`.
    void wait_at_block_barrier(std::uint32_t barrier);

    /// They wait here for `release_cluster_barrier`.
    void wait_at_cluster_barrier() {
        running_.wait = Wait::cluster_barrier;
        interrupted_ = true;
    }

    /// Lanes in `done` continue. The others wait here until all live lanes of their `members` (one mask per
    /// lane) have arrived, and then execute the instruction again, together.
    void wait_for_warp_sync(LaneMask done, const std::uint32_t* members);

    /// Ends this turn: the running lanes spin until others act, maybe lanes of this warp.
    void yield() {
        yielded_ = interrupted_ = true;
        if (others_.empty()) return;
        in_turns_ = true;
        slice_ = 0;
    }

    // ---- for the block ----

    /// Releases the lanes that wait at `barrier`. A `bar.red` among them gets its result from `truths` of
    /// `threads`.
    void release_block_barrier(std::uint32_t barrier, std::uint32_t truths, std::uint32_t threads);

    /// Releases and returns the lanes that wait at the cluster barrier.
    LaneMask release_cluster_barrier();

    /// Resumes all lanes that wait for members of their mask. After that no lane of the block waits for
    /// members.
    void ignore_warp_sync();
    bool ignores_warp_sync() const { return ignores_warp_sync_; }

private:
    [[noreturn]] void overflow(const Instruction& instruction) const;
    void fill_constants(Frame& frame) const;
    void fill_specials(Frame& frame) const;
    void fill_block_specials(Frame& frame) const;
    void reschedule();
    void reconverge();
    ConvergenceGroup& choose();
    ConvergenceGroup& choose_at_random();
    void diverge_randomly();
    void release_converged();
    static void resume(ConvergenceGroup& waiting);
    void execute(const Instruction* first, const Instruction* last, LaneMask lanes);
    void execute_control(const Instruction& instruction, LaneMask lanes);
    void report_executed(std::uint32_t first, std::uint32_t count) const;
    std::uint64_t run_alone(std::uint64_t budget);
    std::uint64_t run_to_control(std::uint64_t budget);
    std::uint32_t reconvergence_point() const;
    /// The frame of lanes that made the same call before and have not returned, or null. Lanes that make the
    /// call later join it: a shuffle in the function may wait for them.
    Frame* shared_frame(const Instruction& call, const Code& callee, std::uint32_t local_base) const;
    Frame& new_frame();

    Block& block_;
    Schedule* schedule_;
    std::uint32_t index_;
    std::uint32_t local_bytes_;
    std::unique_ptr<std::byte[]> local_;
    Frame kernel_frame_;
    std::vector<std::unique_ptr<Frame>> call_frames_; ///< those without lanes are free
    std::byte* rows_ = nullptr;                       ///< of the running frame
    LaneMask live_ = 0;
    ConvergenceGroup running_;
    std::vector<ConvergenceGroup> others_; ///< ready or waiting
    std::uint64_t slice_ = 0;              ///< instructions since the order of choice last changed
    bool in_turns_ = false;                ///< choose the group that has not run for longest
    std::uint64_t choices_ = 0;
    bool yielded_ = false;
    /// The running lanes have split, stopped or ended since they started to run alone.
    bool interrupted_ = false;
    bool ignores_warp_sync_ = false;
};

} // namespace emulator

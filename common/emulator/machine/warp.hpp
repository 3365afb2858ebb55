/// A warp: 32 lanes, their registers and program counters.
#pragma once

#include "emulator/machine/call_stack.hpp"
#include "emulator/machine/convergence_groups.hpp"
#include "emulator/program/code.hpp"
#include "emulator/program/lanes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emulator {

class Block;

/// Executes the instructions of its running lanes, which ConvergenceGroups chooses.
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
    const ConvergenceGroup& running() const { return groups_.running(); }
    const std::vector<ConvergenceGroup>& others() const { return groups_.others(); }

    // ---- registers and local memory, for handlers ----

    /// The 32 cells of `row` in the running frame.
    template <class T> T* cells(Row row) const { return reinterpret_cast<T*>(rows_ + row); }
    LaneMask& predicate(Row row) const { return *reinterpret_cast<LaneMask*>(rows_ + row); }

    /// What the values of an address register have in common.
    struct AddressPattern {
        const void* cells = nullptr; ///< the register
        LaneMask active = 0;         ///< the lanes that were looked at
        bool is_strided = false; ///< evenly spaced: `first` in the first of those lanes, and then by `stride`
        std::uint64_t first = 0, stride = 0;
    };
    /// As remembered in Instruction::address_place.
    AddressPattern& address_pattern(std::uint8_t place) { return address_patterns_[place]; }

    /// The value that `lane` is about to store with `instruction`.
    std::array<std::byte, 16> stored_value(const Instruction& instruction, int lane) const;

    std::byte* local(int lane) const { return stack_.local(lane); }
    std::uint32_t local_bytes() const { return stack_.local_bytes(); } ///< of each lane
    std::uint32_t local_base() const { return running().frame->local_base; }

    // ---- what control instructions do with the running lanes ----

    void advance() { ++groups_.running().pc; }
    void jump(std::uint32_t target) { groups_.running().pc = target; }

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
        groups_.running().wait = Wait::cluster_barrier;
        interrupted_ = true;
    }

    /// Lanes in `done` continue. The others wait here until all live lanes of their `members` (one mask per
    /// lane) have arrived, and then execute the instruction again, together.
    void wait_for_warp_sync(LaneMask done, const std::uint32_t* members);

    /// Ends this turn: the running lanes spin until others act, maybe lanes of this warp.
    void yield() {
        yielded_ = interrupted_ = true;
        groups_.take_turns();
    }

    // ---- for the block ----

    /// See ConvergenceGroups.
    void release_block_barrier(std::uint32_t barrier, std::uint32_t truths, std::uint32_t threads) {
        groups_.release_block_barrier(barrier, truths, threads);
    }
    LaneMask release_cluster_barrier() { return groups_.release_cluster_barrier(); }

    /// Resumes all lanes that wait for members of their mask. After that no lane of the block waits for
    /// members.
    void ignore_warp_sync();
    bool ignores_warp_sync() const { return ignores_warp_sync_; }

private:
    void release_converged();
    static void resume(ConvergenceGroup& waiting);
    void execute(const Instruction* first, const Instruction* last, LaneMask lanes);
    void execute_control(const Instruction& instruction, LaneMask lanes);
    void report_executed(std::uint32_t first, std::uint32_t count) const;
    std::uint64_t run_alone(std::uint64_t budget);
    std::uint64_t run_to_control(std::uint64_t budget);

    Block& block_;
    std::uint32_t index_;
    LaneMask live_ = 0;
    std::byte* rows_ = nullptr; ///< of the running frame
    bool yielded_ = false;
    /// The running lanes have split, stopped or ended since they started to run alone.
    bool interrupted_ = false;
    bool ignores_warp_sync_ = false;
    ConvergenceGroups groups_;
    CallStack stack_;
    std::array<AddressPattern, address_places> address_patterns_{};
};

} // namespace emulator

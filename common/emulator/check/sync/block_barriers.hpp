/// The barriers of one block, errors in how its threads arrive at them, and its deadlocks.
#pragma once

#include "emulator/check/sync/sync_findings.hpp"
#include "emulator/machine/observer.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace emulator {

class BlockBarriers {
public:
    explicit BlockBarriers(SyncFindings& findings) : findings_(findings) {}

    void start();
    void arrive(const Warp& warp, const Instruction& instruction, const BarrierArrival& arrival);
    /// Threads that have exited are not missing: a barrier waits for those that have not.
    void complete(const Block& block, const BarrierCompletion& completion);
    /// Forgets who has come.
    void forget(std::uint32_t barrier) { barriers_[barrier].forget(); }
    /// The number of threads that the first to arrive named; 0: all.
    std::uint32_t expected(std::uint32_t barrier) const { return barriers_[barrier].expected; }

private:
    /// Lanes that were past a barrier when others of their warp arrived at it.
    struct Detour {
        LaneGroup waiting, behind;
    };

    struct Barrier {
        const Instruction* instruction = nullptr; ///< where the first arrived; null: no arrival yet
        std::uint32_t expected = 0;
        LaneGroup first;                  ///< those who came first
        std::vector<LaneGroup> elsewhere; ///< those that arrived at another instruction
        std::vector<Detour> detours;

        void forget() {
            instruction = nullptr;
            elsewhere.clear();
            detours.clear();
        }
    };

    void check_that_lanes_are_together(const Block& block, const BarrierCompletion& completion);
    void check_that_none_went_around(const Block& block, const BarrierCompletion& completion);
    void note_detours(const Warp& warp, const Instruction& instruction, const BarrierArrival& arrival);
    bool is_aligned(InstructionId id) const;
    void found_different_numbers(const Warp& warp, const BarrierArrival& arrival, const LaneGroup& here,
                                 const Barrier& barrier);
    void found_divergent(const Block& block, std::uint32_t barrier, const LaneGroup& one,
                         const LaneGroup& other);

    void found_detour(const Block& block, std::uint32_t barrier, const LaneGroup& waiting,
                      const LaneGroup& gone);

    SyncFindings& findings_;
    std::array<Barrier, Block::barrier_count> barriers_;
};

/// Every thread of the block is stuck: at barriers of the block or the cluster, at mbarriers, or waiting for
/// lanes that a mask names. `exits`: the threads that have exited.
void found_deadlock(SyncFindings& findings, const Block& block, const BlockBarriers& barriers,
                    const std::vector<LaneGroup>& exits);

} // namespace emulator

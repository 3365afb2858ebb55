/// \file
/// The barriers of one block, and what is wrong in how its threads come to them.
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
    /// Threads that the barrier is for, as the first to come said; 0: all.
    std::uint32_t expected(std::uint32_t barrier) const { return barriers_[barrier].expected; }

private:
    /// Lanes that were behind a barrier when others of their warp came to it.
    struct Detour {
        LaneGroup waiting, behind;
    };

    struct Barrier {
        const Instruction* instruction = nullptr; ///< at which the first came; null: nobody has come
        std::uint32_t expected = 0;
        LaneGroup first;                  ///< those who came first
        std::vector<LaneGroup> elsewhere; ///< those who came to another instruction
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

} // namespace emulator

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
    /// `exits`: the threads of the block that have exited.
    void complete(const Block& block, const BarrierCompletion& completion, std::vector<LaneGroup>& exits);
    /// Forgets who has come.
    void forget(std::uint32_t barrier) { barriers_[barrier].forget(); }
    /// Threads that the barrier is for, as the first to come said; 0: all.
    std::uint32_t expected(std::uint32_t barrier) const { return barriers_[barrier].expected; }

private:
    struct Barrier {
        const Instruction* instruction = nullptr; ///< at which the first came; null: nobody has come
        std::uint32_t expected = 0;
        LaneGroup first;                  ///< those who came first
        std::vector<LaneGroup> elsewhere; ///< those who came to another instruction

        void forget() {
            instruction = nullptr;
            elsewhere.clear();
        }
    };

    void check_that_lanes_are_together(const Block& block, const Barrier& barrier,
                                       const BarrierCompletion& completion);
    bool is_aligned(InstructionId id) const;
    void check_that_all_have_come(const Block& block, const BarrierCompletion& completion,
                                  std::vector<LaneGroup>& exits);
    void found_different_numbers(const Warp& warp, const BarrierArrival& arrival, const LaneGroup& here,
                                 const Barrier& barrier);
    void found_divergent(const Block& block, std::uint32_t barrier, const LaneGroup& one,
                         const LaneGroup& other);
    void found_not_reached(const Block& block, std::uint32_t barrier, const LaneGroup& waiting,
                           const LaneGroup& exit, std::uint64_t threads);

    SyncFindings& findings_;
    std::array<Barrier, Block::barrier_count> barriers_;
    std::vector<LaneGroup> met_apart_; ///< a barrier of the whole block that warps met at different places
};

} // namespace emulator

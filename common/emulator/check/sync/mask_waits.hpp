/// Lanes that wait for those that their masks name, and errors in the masks.
#pragma once

#include "emulator/check/sync/sync_findings.hpp"
#include "emulator/machine/observer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace emulator {

class MaskWaits {
public:
    /// Lanes that wait for others that their mask names.
    struct MaskWait {
        const Instruction* instruction = nullptr;
        InstructionId id = 0;
        LaneMask lanes = 0, named = 0;
        LaneMask passed = 0;         ///< those named that have executed something later in the program
        InstructionId passed_at = 0; ///< the first of them
    };

    /// Of each warp of a block.
    using OfBlock = std::vector<std::vector<MaskWait>>;

    explicit MaskWaits(SyncFindings& findings) : findings_(findings) {}

    bool none() const { return waiting_warps_ == 0; }

    /// `exits`: the threads of the block that have exited.
    void arrive(OfBlock& of_block, const Warp& warp, const Instruction& instruction,
                const WarpSyncArrival& arrival, const std::vector<LaneGroup>& exits);
    void complete(OfBlock& of_block, const Warp& warp, const Instruction& instruction, LaneMask lanes,
                  bool is_barrier);
    void forget(OfBlock& of_block);

    /// Lanes execute something later in the program while others wait for them.
    void note_passing(OfBlock& of_block, const Warp& warp, const Instruction& instruction, LaneMask lanes);

private:
    void check_sources(const Warp& warp, const Instruction& instruction,
                       decltype(WarpSyncArrival::source) source_of, LaneMask group, LaneMask named,
                       const std::vector<LaneGroup>& exits);
    void check_sources_are_named(const Warp& warp, const Instruction& instruction,
                                 decltype(WarpSyncArrival::source) source_of, LaneMask group, LaneMask named);
    void wait(OfBlock& of_block, const Warp& warp, const Instruction& instruction, LaneMask group,
              LaneMask named);
    void found_mask_without_caller(const Warp& warp, const Instruction& instruction, LaneMask lanes,
                                   LaneMask named);
    void found_passing(const Block& block, std::uint32_t warp, const MaskWait& wait, LaneMask passed);
    void found_exited_source(const Warp& warp, const Instruction& instruction, int lane,
                             const LaneGroup& gone, int source);
    void found_absent_source(const Warp& warp, const Instruction& instruction, int lane, int source);
    void found_unnamed_source(const Warp& warp, const Instruction& instruction, int lane, LaneMask named,
                              int source);

    SyncFindings& findings_;
    std::size_t waiting_warps_ = 0; ///< of all blocks
};

inline constexpr const char* lanes_do_not_come = "mask names lanes that do not arrive";
inline constexpr const char* cause_of_missing_lanes =
    "The mask names lanes that take another branch: it has to name those that arrive. Compute it with "
    "__ballot_sync() before the branch.";

} // namespace emulator

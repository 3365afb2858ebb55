#include "emulator/check/sync_checker.hpp"

#include "emulator/check/sync/block_barriers.hpp"
#include "emulator/check/sync/mask_waits.hpp"
#include "emulator/check/sync/sync_findings.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/machine/fault.hpp"
#include "emulator/text.hpp"

#include <unordered_map>
#include <utility>
#include <vector>

namespace emulator {

namespace {

class SyncObserver final : public Observer {
public:
    SyncObserver(Findings& findings, const Grid& grid) : findings_(findings, grid) {}

    bool wants(EventKind kind) const override {
        return is_access(kind) || kind == EventKind::barrier || kind == EventKind::warp_sync;
    }

    void block_started(Block& block) override {
        auto& state = blocks_[&block];
        if (!state) state = std::make_unique<BlockState>(findings_);
        state->barriers.start();
        state->waits.resize(block.warps().size()); // nobody waits there: all threads have exited
        state->exits.clear();
        state->arrivals.assign(block.warps().size(), {});
        state->is_out_of_step = false;
        current_ = {&block, state.get()};
    }

    // ---- block barriers ----

    void barrier_arrive(const Warp& warp, const Instruction& instruction,
                        const BarrierArrival& arrival) override {
        BlockState& state = state_of(warp.block());
        if (state.is_out_of_step) return;
        if (!mask_waits_.none()) mask_waits_.note_passing(state.waits, warp, instruction, arrival.lanes);
        state.barriers.arrive(warp, instruction, arrival);
    }

    void barrier_complete(Block& block, const BarrierCompletion& completion) override {
        BlockState& state = state_of(block);
        if (!state.is_out_of_step) state.barriers.complete(block, completion);
        state.barriers.forget(completion.barrier);
    }

    bool absorbs_fault(const Warp& warp, const Fault& fault, LaneMask) override {
        const InstructionId here = findings_.id(warp, *fault.instruction);
        if (fault.instruction->sync == SyncKind::cluster_barrier) {
            findings_.add(SyncFindings::Kind::wrong_barrier, here, here, [&] {
                return findings_.finding(
                    "wrong cluster barrier", fault.message,
                    {party("is here", warp, *fault.instruction, fault.lane)},
                    "Each thread has to arrive and wait in turn; cluster.sync() does both.");
            });
            return true;
        }
        if (fault.instruction->sync != SyncKind::block_barrier) return false;
        findings_.add(SyncFindings::Kind::wrong_barrier, here, here, [&] {
            return findings_.finding(
                "wrong barrier", fault.message, {party("is here", warp, *fault.instruction, fault.lane)},
                "A block has barriers 0 to 15, and a barrier's thread count must be a multiple of 32.");
        });
        return true;
    }

    bool absorbs_deadlock(Block& block) override {
        BlockState& state = state_of(block);
        if (!std::exchange(state.is_out_of_step, true))
            found_deadlock(findings_, block, state.barriers, state.exits);
        mask_waits_.forget(state.waits);
        return true;
    }

    // ---- mbarriers ----

    void used_mbarrier(const Warp& warp, const Instruction& instruction, int lane, MbarrierUse use,
                       const Block& owner, std::uint64_t offset) override {
        if (use != MbarrierUse::invalidate_none) return;
        const InstructionId here = findings_.id(warp, instruction);
        findings_.add(SyncFindings::Kind::no_mbarrier, here, here, [&] {
            return findings_.finding(
                "no mbarrier to invalidate",
                "there is no mbarrier at " + hexadecimal(offset) + " (" +
                    shared_variable(owner.grid(), offset) +
                    "): it has not been initialized, or it has been overwritten or invalidated before",
                {party("is here", warp, instruction, lane)},
                "Two objects in one place, or two threads, invalidate it: its destructor has to run once.");
        });
    }

    // ---- the barrier of the cluster ----

    void cluster_barrier_arrive(const Warp& warp, const Instruction& instruction,
                                const ClusterArrival& arrival) override {
        BlockState& state = state_of(warp.block());
        if (state.is_out_of_step) return;
        if (!mask_waits_.none()) mask_waits_.note_passing(state.waits, warp, instruction, arrival.lanes);
        if (arrival.waits) return;
        state.arrivals[warp.index()] = {warp.index(), arrival.lanes, findings_.id(warp, instruction)};
    }

    // ---- masks ----

    void warp_sync_arrive(const Warp& warp, const Instruction& instruction,
                          const WarpSyncArrival& arrival) override {
        BlockState& state = state_of(warp.block());
        if (!state.is_out_of_step) mask_waits_.arrive(state.waits, warp, instruction, arrival, state.exits);
    }

    void warp_sync_complete(const Warp& warp, const Instruction& instruction, LaneMask lanes,
                            bool is_barrier) override {
        if (!mask_waits_.none())
            mask_waits_.complete(state_of(warp.block()).waits, warp, instruction, lanes, is_barrier);
    }

    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
        if (!mask_waits_.none())
            mask_waits_.note_passing(state_of(warp.block()).waits, warp, instruction, access.active);
    }

    void exited(const Warp& warp, LaneMask lanes) override {
        const ConvergenceGroup& running = warp.running();
        BlockState& state = state_of(warp.block());
        state.exits.push_back({warp.index(), lanes, findings_.id(*running.frame->code, running.pc)});
        const LaneMask without_wait = lanes & warp.block().cluster().not_waited(warp);
        if (without_wait != 0 && !state.is_out_of_step)
            found_no_wait(warp.block(), state.arrivals[warp.index()], state.exits.back());
    }

private:
    struct BlockState {
        explicit BlockState(SyncFindings& findings) : barriers(findings) {}

        BlockBarriers barriers;
        MaskWaits::OfBlock waits;
        std::vector<LaneGroup> exits;
        std::vector<LaneGroup> arrivals; ///< each warp's last one at the cluster barrier
        bool is_out_of_step = false;     ///< threads have passed a barrier where they should have waited
    };

    BlockState& state_of(const Block& block) {
        if (current_.first != &block) current_ = {&block, blocks_.at(&block).get()};
        return *current_.second;
    }

    /// Threads of `block` that exit between their arrival at the cluster barrier and the wait.
    void found_no_wait(const Block& block, const LaneGroup& arrival, const LaneGroup& exit) {
        findings_.add(SyncFindings::Kind::no_wait, arrival.id, exit.id, [&] {
            return findings_.finding(
                "arrival without a wait",
                "a thread arrives at the cluster barrier and exits without waiting there",
                {findings_.party_of("arrives here", block, arrival),
                 findings_.party_of("has exited", block, exit)},
                "A barrier_wait() is missing: each barrier_arrive() needs one by the same thread.");
        });
    }

    SyncFindings findings_;
    MaskWaits mask_waits_{findings_};
    std::unordered_map<const Block*, std::unique_ptr<BlockState>> blocks_; // storage of blocks, reused
    std::pair<const Block*, BlockState*> current_{};
};

} // namespace

std::unique_ptr<Observer> SyncChecker::observer(const Grid& grid) {
    return std::make_unique<SyncObserver>(findings_, grid);
}

} // namespace emulator

#include "emulator/check/sync_checker.hpp"

#include "emulator/check/instruction_ids.hpp"
#include "emulator/check/local_findings.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/machine/fault.hpp"
#include "emulator/text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emulator {

namespace {

std::string number_of(std::uint64_t count, const std::string& what) {
    return thousands(count) + " " + what + (count == 1 ? "" : "s");
}

/// "lane 5", "lanes 16 to 31", "lanes 0, 8 and 9"
std::string lanes_in_words(LaneMask lanes) {
    const int first = std::countr_zero(lanes), last = 31 - std::countl_zero(lanes),
              count = std::popcount(lanes);
    if (count == 1) return "lane " + std::to_string(first);
    if (count > 2 && last - first + 1 == count)
        return "lanes " + std::to_string(first) + " to " + std::to_string(last);
    std::string text = "lanes ";
    for_each_lane(lanes, [&](int lane) {
        text += (lane == first ? "" : lane == last ? " and " : ", ") + std::to_string(lane);
    });
    return text;
}

/// Whether all lanes of a warp have to execute the same one. `bar` is short for `barrier.aligned`.
bool is_aligned(const Code& code, std::uint32_t pc) {
    const ptx::Statement& statement = *code.statements[pc];
    return statement.opcode == "bar" ||
           std::any_of(statement.modifiers.begin(), statement.modifiers.end(),
                       [](const ptx::Modifier& modifier) { return modifier.text == ".aligned"; });
}

/// Lanes of a warp, and where they are.
struct Group {
    std::uint32_t warp = 0;
    LaneMask lanes = 0;
    InstructionId id = 0;
    bool is_told = false; ///< of an exit: that a barrier was missed by it
};

class SyncObserver final : public Observer {
public:
    SyncObserver(Findings& findings, const Grid& grid) : findings_(findings), grid_(grid) {}

    bool wants(EventKind kind) const override {
        return is_access(kind) || kind == EventKind::barrier || kind == EventKind::warp_sync;
    }

    void block_started(Block& block) override {
        auto& state = blocks_[&block];
        if (!state) state = std::make_unique<BlockState>();
        for (Barrier& barrier : state->barriers) barrier.forget();
        state->waits.resize(block.warps().size()); // nobody waits there: all have exited
        state->exits.clear();
        state->met_apart.clear();
        state->arrivals.assign(block.warps().size(), {});
        if (block.rank() == 0) clusters_[&block.cluster()] = {};
        state->is_out_of_step = false;
        current_ = {&block, state.get()};
    }

    // ---- block barriers ----

    void barrier_arrive(const Warp& warp, const Instruction& instruction,
                        const BarrierArrival& arrival) override {
        BlockState& state = state_of(warp.block());
        if (state.is_out_of_step) return;
        if (waiting_warps_ != 0) note_passing(state, warp, instruction, arrival.lanes);
        Barrier& barrier = state.barriers[arrival.barrier];
        if (barrier.instruction == &instruction && barrier.expected == arrival.expected) return;
        const Group here{warp.index(), arrival.lanes, id(warp, instruction)};
        if (!barrier.instruction) {
            barrier.instruction = &instruction;
            barrier.expected = arrival.expected;
            barrier.first = here;
        } else {
            if (barrier.expected != arrival.expected) found_different_numbers(warp, arrival, here, barrier);
            barrier.elsewhere.push_back(here);
        }
    }

    void barrier_complete(Block& block, const BarrierCompletion& completion) override {
        BlockState& state = state_of(block);
        Barrier& barrier = state.barriers[completion.barrier];
        if (!state.is_out_of_step && !(barrier.elsewhere.empty() && state.exits.empty())) {
            check_that_lanes_are_together(block, barrier, completion);
            if (completion.expected == 0) check_that_all_have_come(block, state, completion);
        }
        barrier.forget();
    }

    bool absorbs_fault(const Warp& warp, const Fault& fault, LaneMask) override {
        const InstructionId here = id(warp, *fault.instruction);
        if (fault.instruction->sync == SyncKind::cluster_barrier) {
            add(Kind::wrong_barrier, here, here, [&] {
                return finding("wrong cluster barrier", fault.message,
                               {party("is here", warp, *fault.instruction, fault.lane)},
                               "Each thread has to arrive and to wait in turn; cluster.sync() does both.");
            });
            return true;
        }
        if (fault.instruction->sync != SyncKind::block_barrier) return false;
        add(Kind::wrong_barrier, here, here, [&] {
            return finding(
                "wrong barrier", fault.message, {party("is here", warp, *fault.instruction, fault.lane)},
                "A block has the barriers 0 to 15, and those for a number of threads are for whole warps.");
        });
        return true;
    }

    bool absorbs_deadlock(Block& block) override {
        BlockState& state = state_of(block);
        if (!std::exchange(state.is_out_of_step, true)) found_deadlock(block, state);
        for (auto& waits : state.waits) waiting_warps_ -= std::exchange(waits, {}).empty() ? 0 : 1;
        return true;
    }

    // ---- the barrier of the cluster ----

    void cluster_barrier_arrive(const Warp& warp, const Instruction& instruction,
                                const ClusterArrival& arrival) override {
        BlockState& state = state_of(warp.block());
        if (state.is_out_of_step) return;
        if (waiting_warps_ != 0) note_passing(state, warp, instruction, arrival.lanes);
        if (arrival.waits) return;
        Group& here = state.arrivals[warp.index()];
        here = {warp.index(), arrival.lanes, id(warp, instruction)};
        FirstArrival& first = clusters_[&warp.block().cluster()];
        if (!first.block) first = {&warp.block(), here};
    }

    void cluster_barrier_complete(const Cluster& cluster) override {
        const FirstArrival arrival = std::exchange(clusters_[&cluster], {});
        std::uint64_t threads = 0;
        const Block* block_of_first = nullptr; // of whom it has not been told yet
        Group* first = nullptr;
        for (const auto& block : cluster.blocks()) {
            BlockState& state = *blocks_.at(block.get());
            if (state.is_out_of_step) return;
            for (Group& exit : state.exits) {
                const LaneMask missing = exit.lanes & ~cluster.arrived(*block->warps()[exit.warp]);
                threads += static_cast<std::uint64_t>(std::popcount(missing));
                if (missing == 0 || std::exchange(exit.is_told, true) || first) continue;
                first = &exit;
                block_of_first = block.get();
            }
        }
        if (first && arrival.block)
            found_cluster_not_reached(cluster, arrival, *block_of_first, *first, threads);
    }

    // ---- masks ----

    void warp_sync_arrive(const Warp& warp, const Instruction& instruction,
                          const WarpSyncArrival& arrival) override {
        BlockState& state = state_of(warp.block());
        if (state.is_out_of_step) return;
        note_passing(state, warp, instruction, arrival.lanes);
        for (LaneMask left = arrival.lanes; left != 0;) {
            const LaneMask named = arrival.members[std::countr_zero(left)];
            LaneMask group = lanes_where([&](int lane) { return arrival.members[lane] == named; });
            group &= left;
            left &= ~group;
            if ((group & ~named) != 0) found_mask_without_caller(warp, instruction, group & ~named, named);
            if ((named & ~warp.live()) != 0 && arrival.source)
                check_sources(warp, instruction, arrival.source, group, named);
            if ((named & warp.live() & ~group) != 0) wait(state, warp, instruction, group, named);
        }
    }

    void warp_sync_complete(const Warp& warp, const Instruction& instruction, LaneMask lanes,
                            bool is_barrier) override {
        if (waiting_warps_ == 0) return;
        auto& waits = state_of(warp.block()).waits[warp.index()];
        if (waits.empty()) return;
        for (MaskWait& wait : waits) {
            if ((wait.lanes & lanes) == 0 || (!is_barrier && wait.instruction != &instruction)) continue;
            const LaneMask passed = wait.passed & ~lanes & ~warp.live();
            if (passed != 0) found_passing(warp.block(), warp.index(), wait, passed);
            wait.lanes &= ~lanes;
        }
        std::erase_if(waits, [](const MaskWait& wait) { return wait.lanes == 0; });
        if (waits.empty()) --waiting_warps_;
    }

    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
        if (waiting_warps_ != 0) note_passing(state_of(warp.block()), warp, instruction, access.active);
    }

    void exited(const Warp& warp, LaneMask lanes) override {
        const ConvergenceGroup& running = warp.running();
        BlockState& state = state_of(warp.block());
        state.exits.push_back({warp.index(), lanes, ids_(*running.frame->code, running.pc)});
        const LaneMask without_wait = lanes & warp.block().cluster().not_waited(warp);
        if (without_wait != 0 && !state.is_out_of_step)
            found_no_wait(warp.block(), state.arrivals[warp.index()], state.exits.back());
    }

private:
    enum class Kind {
        deadlock,
        not_reached,
        divergent,
        different_numbers,
        wrong_barrier,
        mask_without_caller,
        passing,
        no_wait,
        exited_source
    };

    struct Barrier {
        const Instruction* instruction = nullptr; ///< at which the first came; null: nobody has come
        std::uint32_t expected = 0;
        Group first;                  ///< those who came first
        std::vector<Group> elsewhere; ///< those who came to another instruction

        void forget() {
            instruction = nullptr;
            elsewhere.clear();
        }
    };

    /// Lanes that wait for others that their mask names.
    struct MaskWait {
        const Instruction* instruction = nullptr;
        InstructionId id = 0;
        LaneMask lanes = 0, named = 0;
        LaneMask passed = 0;         ///< of those named: have done something further on in the program
        InstructionId passed_at = 0; ///< the first of them
    };

    struct BlockState {
        std::array<Barrier, Block::barrier_count> barriers;
        std::vector<std::vector<MaskWait>> waits; ///< of each warp
        std::vector<Group> exits;
        std::vector<Group> arrivals;  ///< of each warp, the last one at the barrier of the cluster
        std::vector<Group> met_apart; ///< a barrier of the whole block that warps met at different places
        bool is_out_of_step = false;  ///< threads have passed what they should have waited at
    };

    /// The first that came to the barrier of a cluster in its present phase.
    struct FirstArrival {
        const Block* block = nullptr; ///< null: nobody has come
        Group group;
    };

    BlockState& state_of(const Block& block) {
        if (current_.first != &block) current_ = {&block, blocks_.at(&block).get()};
        return *current_.second;
    }

    InstructionId id(const Warp& warp, const Instruction& instruction) {
        return ids_(*warp.running().frame->code, instruction);
    }

    // ---- checks ----

    void check_that_lanes_are_together(const Block& block, const Barrier& barrier,
                                       const BarrierCompletion& completion) {
        for (const Group& group : barrier.elsewhere) {
            // Those of the warp that have not come elsewhere have come to the first instruction.
            Group other{group.warp, completion.arrived[group.warp], barrier.first.id};
            for (const Group& third : barrier.elsewhere)
                if (third.warp == group.warp) other.lanes &= ~third.lanes;
            for (const Group& third : barrier.elsewhere)
                if (other.lanes == 0 && third.warp == group.warp && third.id != group.id) other = third;
            if (other.lanes == 0 || other.id == group.id) continue;
            if (is_aligned(other.id) || is_aligned(group.id))
                return found_divergent(block, completion.barrier, other, group);
        }
    }

    bool is_aligned(InstructionId id) const {
        return emulator::is_aligned(ids_.code(id), InstructionIds::pc(id));
    }

    void check_that_all_have_come(const Block& block, BlockState& state,
                                  const BarrierCompletion& completion) {
        const Barrier& barrier = state.barriers[completion.barrier];
        std::uint64_t threads = 0;
        const Group* first = nullptr; // of whom it has not been told yet
        for (Group& exit : state.exits) {
            const LaneMask missing = exit.lanes & ~completion.arrived[exit.warp];
            threads += static_cast<std::uint64_t>(std::popcount(missing));
            if (missing != 0 && !std::exchange(exit.is_told, true) && !first) first = &exit;
        }
        if (first) found_not_reached(block, state, completion.barrier, barrier.first, *first, threads);
        if (threads == 0 && !barrier.elsewhere.empty())
            state.met_apart = {barrier.first, barrier.elsewhere.back()};
    }

    /// A lane that has exited leaves no value behind.
    void check_sources(const Warp& warp, const Instruction& instruction,
                       decltype(WarpSyncArrival::source) source_of, LaneMask group, LaneMask named) {
        for (const Group& gone : state_of(warp.block()).exits) {
            if (gone.warp != warp.index()) continue;
            for_each_lane(group, [&](int lane) {
                const int source = source_of(warp, instruction, lane);
                if (source >= 0 && (gone.lanes & named) >> source & 1)
                    found_exited_source(warp, instruction, lane, gone, source);
            });
        }
    }

    void wait(BlockState& state, const Warp& warp, const Instruction& instruction, LaneMask group,
              LaneMask named) {
        auto& waits = state.waits[warp.index()];
        for (MaskWait& known : waits)
            if (known.instruction == &instruction && known.named == named) {
                known.lanes |= group;
                return;
            }
        if (waits.empty()) ++waiting_warps_;
        waits.push_back({&instruction, id(warp, instruction), group, named, 0, 0});
    }

    /// Lanes do something while others wait for them, at a place that is further on in the program.
    void note_passing(BlockState& state, const Warp& warp, const Instruction& instruction, LaneMask lanes) {
        for (MaskWait& wait : state.waits[warp.index()]) {
            const LaneMask passing = lanes & wait.named & ~wait.lanes & ~wait.passed;
            if (passing == 0) continue;
            const InstructionId here = id(warp, instruction);
            if (&ids_.code(here) != &ids_.code(wait.id) || here <= wait.id) continue;
            if (wait.passed == 0) wait.passed_at = here;
            wait.passed |= passing;
        }
    }

    // ---- findings ----

    template <class Describe>
    void add(Kind kind, InstructionId first, InstructionId second, Describe describe) {
        findings_.add({kind, ids_.of_line(first), ids_.of_line(second)}, 1, describe);
    }

    Finding finding(std::string kind, std::string message, std::vector<Party> parties,
                    std::string cause) const {
        return {.checker = "sync",
                .kind = std::move(kind),
                .message = std::move(message),
                .kernel = grid_.kernel.readable_name(),
                .parties = std::move(parties),
                .allocation = "",
                .cause = std::move(cause)};
    }

    /// The first thread of the group.
    Party party_of(std::string role, const Block& block, const Group& group) const {
        const std::uint64_t thread =
            std::uint64_t{group.warp} * warp_size + static_cast<std::uint32_t>(std::countr_zero(group.lanes));
        return party(std::move(role), ids_.code(group.id), InstructionIds::pc(group.id), block.index(),
                     coordinates(thread, grid_.configuration.block));
    }

    void found_different_numbers(const Warp& warp, const BarrierArrival& arrival, const Group& here,
                                 const Barrier& barrier) {
        const Group& other = barrier.first;
        add(Kind::different_numbers, here.id, other.id, [&] {
            const auto whom = [](std::uint32_t expected) {
                return expected == 0 ? "all threads" : number_of(expected, "thread");
            };
            return finding(
                "wrong number of threads",
                "barrier " + std::to_string(arrival.barrier) + " is for " + whom(arrival.expected) +
                    " here, but for " + whom(barrier.expected) + " to those who wait there already",
                {party_of("is here", warp.block(), here), party_of("waits there", warp.block(), other)},
                "All threads have to give a barrier the same number of threads.");
        });
    }

    void found_divergent(const Block& block, std::uint32_t barrier, const Group& one, const Group& other) {
        add(Kind::divergent, one.id, other.id, [&] {
            return finding("barrier in divergent code",
                           "lanes of warp " + std::to_string(one.warp) + " come to barrier " +
                               std::to_string(barrier) + " at different places",
                           {party_of("is here", block, one), party_of("is there", block, other)},
                           "A __syncthreads() stands in a branch that only some lanes of a warp take: all of "
                           "them have to come to the same one.");
        });
    }

    void found_not_reached(const Block& block, const BlockState& state, std::uint32_t barrier,
                           const Group& waiting, const Group& exit, std::uint64_t threads) {
        add(Kind::not_reached, waiting.id, exit.id, [&] {
            std::vector<Party> parties = {party_of("waits here", block, waiting),
                                          party_of("has exited", block, exit)};
            for (const Group& group : state.met_apart)
                parties.push_back(party_of("was here at it before", block, group));
            return finding("barrier not reached by all",
                           "barrier " + std::to_string(barrier) + " is for all threads of the block, but " +
                               number_of(threads, "thread") + " of " +
                               thousands(grid_.configuration.block.count()) + " exited without coming to it",
                           std::move(parties),
                           "A return, or a branch around the barrier, keeps threads from it: every thread of "
                           "the block has to reach each __syncthreads().");
        });
    }

    void found_cluster_not_reached(const Cluster& cluster, const FirstArrival& waiting, const Block& block,
                                   const Group& exit, std::uint64_t threads) {
        add(Kind::not_reached, waiting.group.id, exit.id, [&] {
            return finding(
                "barrier not reached by all",
                "the barrier of the cluster is for all its threads, but " + number_of(threads, "thread") +
                    " of " + thousands(cluster.blocks().size() * grid_.configuration.block.count()) +
                    " exited without coming to it",
                {party_of("waits here", *waiting.block, waiting.group), party_of("has exited", block, exit)},
                "A return, or a branch around the barrier, keeps threads from it: every thread of "
                "the cluster has to reach each cluster.sync().");
        });
    }

    void found_no_wait(const Block& block, const Group& arrival, const Group& exit) {
        add(Kind::no_wait, arrival.id, exit.id, [&] {
            return finding("arrival without a wait",
                           "a thread arrives at the barrier of the cluster, and exits without having waited "
                           "there",
                           {party_of("arrives here", block, arrival), party_of("has exited", block, exit)},
                           "A barrier_wait() is missing: to each barrier_arrive() belongs one, by the same "
                           "thread.");
        });
    }

    void found_deadlock(const Block& block, const BlockState& state) {
        std::vector<Waiting> all;
        for (const WaitingLanes& lanes : block.waiting())
            all.push_back({{lanes.warp->index(), lanes.lanes, ids_(*lanes.code, lanes.pc)},
                           lanes.converged,
                           lanes.mbarrier});
        const auto of_mask = std::find_if(all.begin(), all.end(), [](const Waiting& waiting) {
            return waiting.converged->wait == Wait::warp_sync;
        });
        if (of_mask != all.end())
            found_wait_for_members(block, all, *of_mask);
        else
            found_wait_at_barriers(block, state, all);
    }

    struct Waiting {
        Group group;
        const ConvergenceGroup* converged;
        std::optional<MbarrierWaits::Wait> mbarrier;
    };

    void found_wait_for_members(const Block& block, const std::vector<Waiting>& all, const Waiting& first) {
        LaneMask present = 0;
        for (const Waiting& waiting : all)
            if (waiting.group.warp == first.group.warp && waiting.group.id == first.group.id &&
                waiting.converged->members == first.converged->members)
                present |= waiting.group.lanes;
        const LaneMask missing =
            first.converged->members & block.warps()[first.group.warp]->live() & ~present;
        std::vector<Group> elsewhere;
        for (const Waiting& waiting : all)
            if (waiting.group.warp == first.group.warp && (waiting.group.lanes & missing) != 0)
                elsewhere.push_back(waiting.group);
        add(Kind::deadlock, first.group.id, elsewhere.empty() ? first.group.id : elsewhere.front().id, [&] {
            std::vector<Party> parties = {party_of("waits here", block, first.group)};
            for (const Group& group : elsewhere) parties.push_back(party_of("waits elsewhere", block, group));
            return finding(lanes_do_not_come,
                           lanes_in_words(present) + " of warp " + std::to_string(first.group.warp) +
                               " wait for " + lanes_in_words(missing) + ", which their mask " +
                               hexadecimal(first.converged->members) + " names, and which wait elsewhere",
                           std::move(parties), cause_of_missing_lanes);
        });
    }

    void found_wait_at_barriers(const Block& block, const BlockState& state,
                                const std::vector<Waiting>& all) {
        Told told;
        const bool too_many = tell_of_barriers(told, block, state, all);
        const bool at_mbarriers_only = told.places.empty();
        tell_of_mbarriers(told, block, all);
        tell_of_cluster_barrier(told, block, all);
        add(Kind::deadlock, told.places.front(), told.places.back(), [&] {
            if (!state.exits.empty())
                told.parties.push_back(party_of("has exited", block, state.exits.front()));
            const std::string message = "no thread of the block can go on: " + told.waits;
            return too_many
                       ? finding("wrong number of threads",
                                 message + "; the block has " +
                                     number_of(grid_.configuration.block.count(), "thread"),
                                 std::move(told.parties),
                                 "The number of threads that a named barrier is for is more than can come.")
                       : finding(
                             "barrier not reached by all", message, std::move(told.parties),
                             at_mbarriers_only
                                 ? "A phase of an mbarrier ends with as many arrivals as it was "
                                   "initialised for: one of them is missing, or the number is too high."
                                 : "The threads do not agree on which barriers they come to, or on how many "
                                   "threads those are for.");
        });
    }

    /// Who waits, and at what.
    struct Told {
        std::string waits; ///< "32 threads wait at barrier 1, 32 threads wait at barrier 2"
        std::vector<Party> parties;
        std::vector<InstructionId> places;

        void add(std::uint64_t threads, const std::string& what) {
            waits += (waits.empty() ? "" : ", ") + number_of(threads, "thread") + " wait " + what;
        }
    };

    template <class Which>
    static std::uint64_t number_of_threads(const std::vector<Waiting>& all, Which which) {
        std::uint64_t threads = 0;
        for (const Waiting& waiting : all)
            if (which(waiting)) threads += static_cast<std::uint64_t>(std::popcount(waiting.group.lanes));
        return threads;
    }

    /// Whether one of them is for more threads than can come.
    bool tell_of_barriers(Told& told, const Block& block, const BlockState& state,
                          const std::vector<Waiting>& all) const {
        bool too_many = false;
        for (std::uint32_t barrier = 0; barrier < Block::barrier_count; ++barrier) {
            const auto is_here = [&](const Waiting& waiting) {
                return waiting.converged->wait == Wait::block_barrier &&
                       waiting.converged->barrier == barrier;
            };
            const std::uint64_t threads = number_of_threads(all, is_here);
            if (threads == 0) continue;
            const std::string at_barrier = "at barrier " + std::to_string(barrier);
            for (const Waiting& waiting : all) {
                if (!is_here(waiting)) continue;
                if (std::find(told.places.begin(), told.places.end(), waiting.group.id) != told.places.end())
                    continue;
                told.places.push_back(waiting.group.id);
                told.parties.push_back(party_of("waits " + at_barrier, block, waiting.group));
            }
            const std::uint32_t expected = state.barriers[barrier].expected;
            too_many = too_many || expected > block.warps().size() * warp_size;
            told.add(threads, at_barrier + (expected != 0 ? " for " + std::to_string(expected) : ""));
        }
        return too_many;
    }

    void tell_of_mbarriers(Told& told, const Block& block, const std::vector<Waiting>& all) const {
        for (auto waiting = all.begin(); waiting != all.end(); ++waiting) {
            const auto is_here = [&](const Waiting& other) {
                return other.mbarrier && other.mbarrier->owner == waiting->mbarrier->owner &&
                       other.mbarrier->offset == waiting->mbarrier->offset;
            };
            if (!waiting->mbarrier || std::any_of(all.begin(), waiting, is_here)) continue;
            told.add(number_of_threads(all, is_here), in_words(*waiting->mbarrier));
            told.places.push_back(waiting->group.id);
            told.parties.push_back(party_of(
                "waits at the mbarrier at " + hexadecimal(waiting->mbarrier->offset), block, waiting->group));
        }
    }

    void tell_of_cluster_barrier(Told& told, const Block& block, const std::vector<Waiting>& all) const {
        const auto is_here = [](const Waiting& waiting) {
            return waiting.converged->wait == Wait::cluster_barrier;
        };
        const auto first = std::find_if(all.begin(), all.end(), is_here);
        if (first == all.end()) return;
        told.add(number_of_threads(all, is_here), "at the barrier of the cluster");
        told.parties.push_back(party_of("waits at the barrier of the cluster", block, first->group));
    }

    void found_mask_without_caller(const Warp& warp, const Instruction& instruction, LaneMask lanes,
                                   LaneMask named) {
        const InstructionId here = id(warp, instruction);
        add(Kind::mask_without_caller, here, here, [&] {
            return finding("mask without its caller",
                           lanes_in_words(lanes) + " of warp " + std::to_string(warp.index()) +
                               " come with the mask " + hexadecimal(named) + ", which does not name " +
                               (std::popcount(lanes) == 1 ? "it" : "them"),
                           {party("is here", warp, instruction, std::countr_zero(lanes))},
                           "The mask has to name every lane that comes: is it that of another branch?");
        });
    }

    void found_passing(const Block& block, std::uint32_t warp, const MaskWait& wait, LaneMask passed) {
        add(Kind::passing, wait.id, wait.passed_at, [&] {
            return finding(lanes_do_not_come,
                           "the mask " + hexadecimal(wait.named) + " names " + lanes_in_words(passed) +
                               " of warp " + std::to_string(warp) + ", which went on without coming here",
                           {party_of("waits here", block, {warp, wait.lanes, wait.id}),
                            party_of("went on", block, {warp, passed, wait.passed_at})},
                           cause_of_missing_lanes);
        });
    }

    void found_exited_source(const Warp& warp, const Instruction& instruction, int lane, const Group& gone,
                             int source) {
        const InstructionId here = id(warp, instruction);
        add(Kind::exited_source, here, gone.id, [&] {
            return finding(
                "shuffle from an exited lane",
                "lane " + std::to_string(lane) + " of warp " + std::to_string(warp.index()) +
                    " reads the value of lane " + std::to_string(source) +
                    ", which has exited: what it gets is undefined",
                {party("reads", warp, instruction, lane),
                 party_of("has exited", warp.block(), {warp.index(), LaneMask{1} << source, gone.id})},
                "A return before the shuffle keeps lanes from it: let all lanes come to it.");
        });
    }

    static constexpr const char* lanes_do_not_come = "mask names lanes that do not come";
    static constexpr const char* cause_of_missing_lanes =
        "The mask names lanes that take another branch: it has to name those that come, as the "
        "__ballot_sync() before the branch tells them.";

    LocalFindings<std::tuple<Kind, InstructionId, InstructionId>> findings_;
    const Grid& grid_;
    InstructionIds ids_;
    std::unordered_map<const Block*, std::unique_ptr<BlockState>> blocks_; // storage of blocks, used again
    std::unordered_map<const Cluster*, FirstArrival> clusters_;
    std::pair<const Block*, BlockState*> current_{};
    std::size_t waiting_warps_ = 0; // with lanes that wait for members of their masks
};

} // namespace

std::unique_ptr<Observer> SyncChecker::observer(const Grid& grid) {
    return std::make_unique<SyncObserver>(findings_, grid);
}

} // namespace emulator

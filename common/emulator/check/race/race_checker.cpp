#include "emulator/check/race/race_checker.hpp"

#include "emulator/check/local_findings.hpp"
#include "emulator/check/race/cluster_order.hpp"
#include "emulator/check/race/grid_order.hpp"
#include "emulator/check/race/race_actors.hpp"
#include "emulator/check/race/race_finding.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/program/cas_loops.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emulator {

namespace {

/// The function, and those it can reach.
void add_reachable(const Code& code, std::vector<const Code*>& found) {
    if (std::find(found.begin(), found.end(), &code) != found.end()) return;
    found.push_back(&code);
    for (const Code* const callee : code.callees) add_reachable(*callee, found);
}

bool any_instruction(const std::vector<const Code*>& codes, bool (*is_such)(const Instruction&)) {
    return std::any_of(codes.begin(), codes.end(), [&](const Code* code) {
        return std::any_of(code->instructions.begin(), code->instructions.end(), is_such);
    });
}

/// A barrier with a thread count.
bool names_number_of_threads(const Instruction& instruction) {
    return instruction.sync == SyncKind::block_barrier && instruction.sources[1] != no_row;
}
bool orders_some_threads(const Instruction& instruction) {
    return names_number_of_threads(instruction) || instruction.sync == SyncKind::mbarrier;
}
bool is_cluster_barrier(const Instruction& instruction) {
    return instruction.sync == SyncKind::cluster_barrier;
}

/// The access of `lane`'s copy, if it is one of several that start at once.
std::array<std::byte, 16> copied_value(const AsyncCopy& copy, int lane) {
    std::array<std::byte, 16> value{};
    if (copy.from_bytes[lane] != 0) std::memcpy(value.data(), copy.from[lane], copy.from_bytes[lane]);
    return value;
}

Role role_of(const Instruction& instruction, AccessKind kind) {
    const bool is_strong =
        instruction.ordering != Ordering::weak && instruction.ordering != Ordering::as_volatile;
    if (is_strong || kind == AccessKind::atom || kind == AccessKind::red) return Role::atomic;
    return kind == AccessKind::load ? Role::read : Role::write;
}

class RaceObserver final : public Observer {
public:
    RaceObserver(Findings& findings, const Grid& grid, RaceOptions options)
        : findings_(findings), grid_(grid), options_(options) {
        std::vector<const Code*> codes;
        add_reachable(grid.kernel.code(), codes);
        for (const Code* const code : codes) ids_(*code, 0);
        needs_all_ = any_instruction(codes, orders_some_threads);
        has_clusters_ = grid.has_clusters || any_instruction(codes, is_cluster_barrier);
    }

    bool wants(EventKind kind) const override {
        return kind == EventKind::shared_access || kind == EventKind::synchronizing_access ||
               (kind == EventKind::global_access && options_.global) || kind == EventKind::barrier ||
               kind == EventKind::warp_sync;
    }
    std::uint64_t findings_or_reads() const override { return findings_or_reads_; }

    void block_started(Block& block) override {
        auto& state = blocks_[&block];
        if (!state) state = std::make_unique<BlockState>(options_.ticks, block.shared().size());
        current_ = {&block, state.get()};
        state->order.start();
        const Dim3 grid = grid_.configuration.grid, index = block.index();
        state->number = static_cast<std::uint32_t>(index.x + std::uint64_t{grid.x} *
                                                                 (index.y + std::uint64_t{grid.y} * index.z));
        state->is_out_of_step = state->has_atomics = false;
        state->copies.clear();
        state->ended_copies.clear();
        state->copied_words.clear();
        state->copied_lines.clear();
        grid_order_.start(state->others, state->number, state->number);
        forget_if_used_up(block);
        if (has_clusters_) begin_in_cluster(*state, block);
    }
    void block_ended(Block& block) override {
        if (has_clusters_) check_end_of_shared_memory(block);
    }
    void exited(const Warp& warp, LaneMask lanes) override {
        if (!has_clusters_) return;
        const ConvergenceGroup& running = warp.running();
        state_of(warp.block()).last_exit = {warp.index(), std::countr_zero(lanes),
                                            ids_(*running.frame->code, running.pc)};
    }

    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
        const bool is_shared = access.space == ptx::Space::shared;
        const bool synchronizes = may_synchronize(instruction, access.kind);
        BlockState& state = state_of(warp.block());
        if (state.is_out_of_step) return;
        const Now now{state, warp, instruction, access, ids_(instruction), role_of(instruction, access.kind)};
        if (is_shared) check_copies(now);
        if (synchronizes) acquire(now);
        const BlockActor actor(state.order, warp.index(), now.id, needs_all_);
        if (is_shared && is_reserved(access)) {
            // Lanes of a warp synchronize there by votes and shuffles, which order nothing in the program's
            // memory.
        } else if (is_shared && has_clusters_)
            check_shared_of_cluster(now, actor);
        else if (is_shared)
            check_shared(now, actor);
        else if (options_.global)
            check_global(now, actor);
        if (synchronizes) release(now);
    }

    void barrier_arrive(const Warp& warp, const Instruction&, const BarrierArrival& arrival) override {
        state_of(warp.block()).order.barrier_arrive(warp.index(), arrival);
        forget_if_used_up(warp.block());
    }
    void barrier_complete(Block& block, const BarrierCompletion& completion) override {
        BlockState& state = state_of(block);
        state.order.barrier_complete(block, completion);
        std::uint32_t warps = 0;
        for (std::size_t warp = 0; warp < completion.arrived.size(); ++warp)
            if (completion.arrived[warp] != 0) warps |= 1u << warp;
        grid_order_.met(state.others, warps);
        forget_if_used_up(block);
    }
    void warp_sync_complete(const Warp& warp, const Instruction&, LaneMask lanes, bool is_barrier) override {
        if (!is_barrier) return;
        state_of(warp.block()).order.warp_barrier_arrive(warp, lanes);
        forget_if_used_up(warp.block());
    }
    void fenced(const Warp& warp, const Instruction& instruction, LaneMask) override {
        BlockState& state = state_of(warp.block());
        if (orders_blocks())
            remember(state, warp, {.id = ids_(instruction), .what = "fence", .scope = instruction.scope});
        state.order.fenced(warp.index());
        if (orders_blocks())
            grid_order_.fenced(state.others, warp.index(), instruction.scope,
                               state.order.release(warp.index()));
        forget_if_used_up(warp.block());
    }

    void copy_started(const AsyncCopy& copy) override {
        BlockState& owner = state_of(*copy.target);
        write_copy(copy, true);
        owner.copied_words.resize((copy.target->shared().size() + 3) / 4);
        owner.copied_lines.resize(owner.copied_words.size() / words_of_line + 1);
        for_each_lane(copy.lanes, [&](int lane) {
            const BlockState& state = state_of(copy.warp->block());
            if (owner.ended_copies.empty()) {
                owner.copies.emplace_back();
                owner.ended_copies.push_back(static_cast<std::uint32_t>(owner.copies.size()));
            }
            const std::uint32_t number = owner.ended_copies.back();
            owner.ended_copies.pop_back();
            owner.copies[number - 1] = {state.number, state.order.stamp(copy.warp->index()), lane,
                                        ids_(*copy.code, *copy.instruction), Role::write};
            mark_words(owner, copy, lane, number);
        });
    }
    void copy_ended(const AsyncCopy& copy) override {
        BlockState& owner = state_of(*copy.target);
        for_each_lane(copy.lanes, [&](int lane) {
            const std::uint32_t number = owner.copied_words[copy.addresses[lane] / 4];
            if (number != 0) owner.ended_copies.push_back(number);
            mark_words(owner, copy, lane, 0);
        });
        write_copy(copy, false);
    }

    void used_mbarrier(const Warp& warp, const Instruction&, int, MbarrierUse use, const Block& owner,
                       std::uint64_t offset) override {
        BlockState& state = state_of(warp.block());
        const std::uint32_t index = warp.index();
        if (use == MbarrierUse::arrive) {
            if (&owner == &warp.block()) state.order.arrived_at_mbarrier(index, offset);
            if (has_clusters_)
                grid_order_.released(state.others, index,
                                     shared_memory_of(blocks_.at(&owner)->number) | offset, Scope::gpu,
                                     state.order.release(index));
        } else if (use == MbarrierUse::wait) {
            state.order.waited_at_mbarrier(index, offset);
            if (has_clusters_)
                grid_order_.read(state.others, index, shared_memory_of(blocks_.at(&owner)->number) | offset,
                                 Scope::gpu, true);
        }
        forget_if_used_up(warp.block());
    }

    void cluster_barrier_arrive(const Warp& warp, const Instruction&,
                                const ClusterArrival& arrival) override {
        if (!has_clusters_) return;
        BlockState& state = state_of(warp.block());
        const std::uint32_t rank = warp.block().rank(), index = warp.index();
        if (arrival.waits && (warp.block().cluster().arrived(warp) & arrival.lanes) == 0)
            grid_order_.learn(state.others, index, state.cluster->ended());
        else if (arrival.waits)
            state.cluster->wait(rank, index);
        else if (arrival.orders)
            state.cluster->arrive(grid_order_.knowledge(state.others, index, state.order.release(index)));
        else if (const auto* const released = state.order.released_by_fence(index))
            state.cluster->arrive(grid_order_.knowledge(state.others, index, *released));
        forget_if_used_up(warp.block());
    }
    void cluster_barrier_complete(const Cluster& cluster) override {
        if (!has_clusters_) return;
        ClusterOrder& order = *state_of(*cluster.blocks().front()).cluster;
        order.phase_ended();
        for (const auto& block : cluster.blocks())
            for_each_lane(order.take_waiting(block->rank()), [&](int warp) {
                grid_order_.learn(state_of(*block).others, static_cast<std::uint32_t>(warp), order.ended());
            });
    }

    /// From here on, threads of the block have passed barriers at which they should still wait.
    bool absorbs_deadlock(Block& block) override {
        state_of(block).is_out_of_step = true;
        return false;
    }

private:
    struct BlockState {
        BlockState(std::uint32_t ticks, std::size_t shared_bytes) : order(ticks), shared(shared_bytes) {}

        MemoryOrder order;
        AccessShadow<BlockActor> shared;
        ClusterOrder* cluster = nullptr;                          ///< null: without clusters
        std::optional<AccessShadow<GridActor>> shared_in_cluster; ///< if set, it replaces `shared`
        std::map<GridStamp, Visit> visits;                        ///< by stamp, without its tick
        std::vector<EarlierAccess> copies;       ///< to the block's shared memory; numbered from 1 on
        std::vector<std::uint32_t> ended_copies; ///< numbers that are free again
        std::vector<std::uint32_t> copied_words; ///< the number of the copy that still writes there, or 0
        std::vector<std::uint32_t> copied_lines; ///< how many of 32 words have such a number
        LastExit last_exit;
        std::uint32_t number = 0; ///< of the block in the grid
        bool is_out_of_step = false;
        bool has_atomics = false;
        GridOrder::View others;
    };

    /// An access in progress.
    struct Now {
        BlockState& state;
        const Warp& warp;
        const Instruction& instruction;
        const Access& access;
        InstructionId id;
        Role role;
        const AsyncCopy* copy = nullptr; ///< that starts with it
    };

    BlockState& state_of(const Block& block) {
        if (current_.first != &block) current_ = {&block, blocks_.at(&block).get()};
        return *current_.second;
    }

    void forget_if_used_up(Block& block) {
        BlockState& state = state_of(block);
        if (!state.order.is_used_up()) return;
        state.shared = AccessShadow<BlockActor>(block.shared().size());
        global_.clear();
        last_page_ = {};
        state.order.forget();
        narrow_atomics_.clear();
        grid_order_.forget();
        for (auto& [other, its] : blocks_) grid_order_.forget(its->others);
        if (!has_clusters_) return;
        for (auto& [cluster, order] : clusters_) order.forget();
        for (auto& [other, its] : blocks_) {
            if (its->shared_in_cluster) its->shared_in_cluster.emplace(other->shared().size());
            its->visits.clear();
        }
    }

    // ---- clusters ----

    /// The blocks of a cluster start in rank order, before any of them runs.
    void begin_in_cluster(BlockState& state, const Block& block) {
        state.cluster = &clusters_[&block.cluster()];
        if (block.rank() == 0) state.cluster->start();
        const auto& first = block.cluster().blocks().front();
        grid_order_.start(state.others, state.number, blocks_.at(first.get())->number);
        state.shared_in_cluster.emplace(block.shared().size());
        state.visits.clear();
    }

    GridActor grid_actor(const Now& now, const BlockActor& in_block) const {
        return {in_block, now.state.number, now.warp.index(), now.state.others, has_clusters_};
    }

    /// In the shared memory that CUDA reserves for itself, where cooperative groups have their barriers.
    bool is_reserved(const Access& access) const {
        return access.addresses[std::countr_zero(access.active)] < grid_.kernel.reserved_shared_bytes();
    }

    [[gnu::noinline]] void check_shared_of_cluster(const Now& now, const BlockActor& in_block_actor,
                                                   bool finds = true) {
        const GridActor actor = grid_actor(now, in_block_actor);
        BlockState& owner = now.access.remote ? *blocks_.at(now.access.remote) : now.state;
        owner.shared_in_cluster->access(
            actor, now.role, now.access.addresses, now.access.bytes, now.access.active,
            [&](int lane, const GridActor::Record& record, Role role) {
                return !finds || is_hazard(now, lane, earlier_of(record, role));
            },
            [&](int lane, int other) { check_collision(now, lane, other); });
        if (!now.access.remote) return;
        const int lane = std::countr_zero(now.access.active);
        const GridStamp whose = (actor.stamp() >> 32 << 32) | now.warp.index();
        Visit& visit = owner.visits[whose];
        if (visit.stamp == 0) visit.thread = party(name_of(now.role), now.warp, now.instruction, lane);
        visit.stamp = actor.stamp();
        visit.role = now.role;
        visit.address = now.access.addresses[lane];
    }

    /// A block's shared memory ends with it: other blocks' accesses have to happen before.
    void check_end_of_shared_memory(const Block& block) {
        BlockState& state = state_of(block);
        if (state.is_out_of_step) return;
        for (const auto& [whose, visit] : state.visits) {
            const std::uint32_t number = block_of(visit.stamp);
            const Stamp stamp = in_block(visit.stamp);
            if (state.others.any_knows(number, stamp)) continue;
            const InstructionId exit = ids_.of_line(state.last_exit.id);
            findings_.add({RaceSort::end_of_block, exit, exit}, 1, [&, &visit = visit] {
                return finding(grid_, ids_, block, state.last_exit, visit);
            });
        }
    }

    // ---- fences, atomics and volatile accesses ----

    /// Whether to check other blocks' accesses too.
    bool orders_blocks() const { return options_.global || has_clusters_; }

    /// The first location of a block's shared memory. A location is an address in global memory, or a number
    /// that is not an address.
    static std::uint64_t shared_memory_of(std::uint32_t block) {
        return std::uint64_t{1} << 63 | std::uint64_t{block} << 32;
    }
    std::uint64_t first_place(const Now& now) const {
        if (now.access.space != ptx::Space::shared) return 0;
        return shared_memory_of(now.access.remote ? blocks_.at(now.access.remote)->number : now.state.number);
    }

    template <class Visit> void for_each_place(const Now& now, Visit visit) const {
        const std::uint64_t first = first_place(now);
        std::uint64_t last = ~std::uint64_t{0};
        for_each_lane(now.access.active, [&](int lane) {
            const std::uint64_t address = now.access.addresses[lane];
            if (address != last) visit(first | address);
            last = address;
        });
    }

    bool meets_blocks(const Now& now) const {
        return orders_blocks() && (now.access.space == ptx::Space::global || has_clusters_);
    }

    void acquire(const Now& now) {
        if (now.access.kind == AccessKind::store || now.access.kind == AccessKind::red) return;
        const bool in_block = now.state.order.has_releases();
        const bool in_grid = meets_blocks(now) && grid_order_.may_read();
        if (!in_block && !in_grid) return;
        const bool acquires = does_acquire(now.instruction);
        const std::uint32_t warp = now.warp.index();
        for_each_place(now, [&](std::uint64_t place) {
            if (in_block) now.state.order.acquire_from(warp, place, acquires);
            if (in_grid) grid_order_.read(now.state.others, warp, place, now.instruction.scope, acquires);
        });
    }

    void release(const Now& now) {
        if (now.role == Role::atomic) now.state.has_atomics = true;
        const std::uint32_t warp = now.warp.index();
        const bool writes = now.access.kind != AccessKind::load, in_grid = meets_blocks(now);
        const bool releases = writes && does_release(now.instruction);
        if (releases) now.state.order.fenced(warp);
        if (writes && now.state.order.can_release(warp))
            for_each_place(now, [&](std::uint64_t place) { now.state.order.release_to(warp, place); });
        if (!in_grid) return forget_if_used_up(now.warp.block());
        const Scope scope = now.instruction.scope;
        if (releases) {
            const MemoryOrder::Clock own = now.state.order.release(warp);
            for_each_place(now, [&](std::uint64_t place) {
                grid_order_.released(now.state.others, warp, place, scope, own);
            });
        } else if (writes && grid_order_.may_write(now.state.others)) {
            for_each_place(
                now, [&](std::uint64_t place) { grid_order_.wrote(now.state.others, warp, place, scope); });
        }
        const bool reads = now.access.kind == AccessKind::load || now.access.kind == AccessKind::atom;
        const auto [lowest, highest] =
            std::minmax_element(now.access.addresses.data(), now.access.addresses.data() + warp_size);
        remember(now.state, now.warp,
                 {.id = now.id,
                  .what = role_of(now.access.kind),
                  .scope = scope,
                  .first_place = first_place(now) | *lowest,
                  .last_place = first_place(now) | *highest,
                  .reads = reads,
                  .writes = writes,
                  .acquires = reads && does_acquire(now.instruction),
                  .releases = releases});
        forget_if_used_up(now.warp.block());
    }

    void remember(BlockState& state, const Warp& warp, SyncEvent event) {
        event.stamp = state.order.stamp(warp.index());
        if (grid_order_.remember(state.others, event)) state.order.start_tick();
    }

    // ---- asynchronous copies ----

    static constexpr std::size_t words_of_line = 32;

    static void mark_words(BlockState& owner, const AsyncCopy& copy, int lane, std::uint32_t mark) {
        const std::uint64_t first = copy.addresses[lane] / 4;
        for (std::uint64_t word = first; word < first + copy.bytes / 4; ++word) {
            const std::uint32_t before = std::exchange(owner.copied_words[word], mark);
            owner.copied_lines[word / words_of_line] += (mark != 0 ? 1u : 0u) - (before != 0 ? 1u : 0u);
        }
    }

    /// Whether a copy is still writing to the lines that hold these bytes.
    static bool is_copied(const BlockState& owner, std::uint64_t first, std::uint64_t last) {
        const auto* const lines = owner.copied_lines.data();
        return std::any_of(lines + first / 4 / words_of_line, lines + last / 4 / words_of_line + 1,
                           [](std::uint32_t words) { return words != 0; });
    }

    /// Finds accesses to bytes that a copy is still writing, including accesses by its own thread.
    void check_copies(const Now& now) {
        BlockState& owner = now.access.remote ? *blocks_.at(now.access.remote) : now.state;
        if (owner.copied_words.empty()) return;
        const LaneAddresses& all = now.access.addresses;
        if (all.are_strided() && !is_copied(owner, all.lowest(), all.highest() + now.access.bytes - 1))
            return;
        for_each_lane(now.access.active, [&](int lane) {
            const std::uint64_t first = now.access.addresses[lane];
            for (std::uint64_t word = first / 4; word <= (first + now.access.bytes - 1) / 4; ++word) {
                const std::uint32_t mark = owner.copied_words[word];
                if (mark == 0) continue;
                EarlierAccess copy = owner.copies[mark - 1];
                copy.is_copy = true;
                return add(now, lane, copy);
            }
        });
    }

    /// Most bulk copies conflict with nothing: then one test of all that they write is enough. Returns
    /// whether it was.
    bool write_undisturbed(const AsyncCopy& copy, bool starts) {
        if (has_clusters_ || !std::has_single_bit(copy.lanes)) return false;
        const std::uint64_t first = copy.addresses[std::countr_zero(copy.lanes)];
        const Warp& warp = *copy.warp;
        BlockState& state = state_of(warp.block());
        if (starts && !state.copied_words.empty() && is_copied(state, first, first + copy.bytes - 1))
            return false;
        const BlockActor actor(state.order, warp.index(), ids_(*copy.code, *copy.instruction), needs_all_);
        return state.shared.access_undisturbed(actor, Role::write, LaneAddresses(copy.addresses), copy.bytes,
                                               copy.lanes);
    }

    /// A copy writes from its start to its end: earlier accesses must happen before its start, later ones
    /// after its end.
    void write_copy(const AsyncCopy& copy, bool starts) {
        const Warp& warp = *copy.warp;
        BlockState& state = state_of(warp.block());
        if (state.is_out_of_step || write_undisturbed(copy, starts)) return;
        std::array<std::uint64_t, warp_size> addresses;
        std::copy_n(copy.addresses, warp_size, addresses.begin());
        for (std::uint32_t left = copy.bytes; left != 0;) {
            const Access access{.space = ptx::Space::shared,
                                .kind = AccessKind::store,
                                .bytes = std::min(left, 16u),
                                .active = copy.lanes,
                                .addresses = addresses.data(),
                                .remote = copy.target == &warp.block() ? nullptr : copy.target,
                                .is_copy = true};
            const Now now{state,
                          warp,
                          *copy.instruction,
                          access,
                          ids_(*copy.code, *copy.instruction),
                          Role::write,
                          starts ? &copy : nullptr};
            if (starts) check_copies(now);
            const BlockActor actor(state.order, warp.index(), now.id, needs_all_);
            if (has_clusters_)
                check_shared_of_cluster(now, actor, starts);
            else
                check_shared(now, actor, starts);
            for (std::uint64_t& address : addresses) address += access.bytes;
            left -= access.bytes;
        }
    }

    // ---- hazards ----

    /// `finds`: report hazards; else only record the access.
    void check_shared(const Now& now, const BlockActor& actor, bool finds = true) {
        now.state.shared.access(
            actor, now.role, now.access.addresses, now.access.bytes, now.access.active,
            [&](int lane, const BlockActor::Record& record, Role role) {
                return !finds || is_hazard(now, lane,
                                           {now.state.number, record.stamp, std::countr_zero(record.lanes),
                                            record.id, role});
            },
            [&](int lane, int other) { check_collision(now, lane, other); });
    }

    /// Page by page.
    [[gnu::noinline]] void check_global(const Now& now, const BlockActor& in_block_actor) {
        if (now.role == Role::atomic) check_scopes(now);
        const GridActor actor = grid_actor(now, in_block_actor);
        const LaneAddresses& all = now.access.addresses;
        if (all.are_strided() && all.lowest() / page_bytes == all.highest() / page_bytes) {
            const LaneAddresses in_page(now.access.active, all.first() % page_bytes, all.stride());
            return check_page(now, actor, all.first() / page_bytes, in_page, now.access.active);
        }
        const std::uint64_t* const addresses = all.data();
        for (LaneMask left = now.access.active; left != 0;) {
            const std::uint64_t first = addresses[std::countr_zero(left)], page = first / page_bytes;
            LaneMask group = 0;
            std::array<std::uint64_t, warp_size> places;
            for (int lane = 0; lane < warp_size; ++lane) {
                const bool is_here = (left >> lane & 1) != 0 && addresses[lane] / page_bytes == page;
                group |= LaneMask{is_here} << lane;
                places[static_cast<std::size_t>(lane)] = (is_here ? addresses[lane] : first) % page_bytes;
            }
            left &= ~group;
            check_page(now, actor, page, LaneAddresses(places.data()), group);
        }
    }

    [[gnu::noinline]] void check_page(const Now& now, const GridActor& actor, std::uint64_t page,
                                      const LaneAddresses& addresses, LaneMask lanes) {
        if (!last_page_.second || last_page_.first != page)
            last_page_ = {page, &global_.try_emplace(page, page_bytes).first->second};
        last_page_.second->access(
            actor, now.role, addresses, now.access.bytes, lanes,
            [&](int lane, const GridActor::Record& record, Role role) {
                return is_hazard(now, lane, earlier_of(record, role));
            },
            [&](int lane, int other) { check_collision(now, lane, other); });
    }

    /// A block-scope atomic does not exclude an atomic of another block. (A cluster-scope one may.)
    void check_scopes(const Now& now) {
        const Scope scope = now.instruction.scope;
        const bool is_narrow = scope == Scope::block || (scope == Scope::cluster && !has_clusters_);
        if (!is_narrow && narrow_atomics_.empty()) return;
        bool is_found = false;
        for_each_lane(now.access.active, [&](int lane) {
            const std::uint64_t place = now.access.addresses[lane];
            const auto found =
                is_narrow ? narrow_atomics_.try_emplace(place).first : narrow_atomics_.find(place);
            if (found == narrow_atomics_.end()) return;
            GridActor::Record& last = found->second;
            if (!is_found && last.stamp != 0 && block_of(last.stamp) != now.state.number &&
                !now.state.others.knows(now.warp.index(), block_of(last.stamp), in_block(last.stamp))) {
                is_found = true;
                add(now, lane, earlier_of(last, Role::atomic));
            }
            if (is_narrow && now.access.kind != AccessKind::load)
                last = {GridStamp{now.state.number + 1} << 32 | now.state.order.stamp(now.warp.index()),
                        LaneMask{1} << lane, now.id};
        });
    }

    static EarlierAccess earlier_of(const GridActor::Record& record, Role role) {
        return {block_of(record.stamp), in_block(record.stamp), std::countr_zero(record.lanes), record.id,
                role};
    }

    /// Whether an unordered access is a hazard. If so, reports it.
    bool is_hazard(const Now& now, int lane, const EarlierAccess& earlier) {
        ++findings_or_reads_;
        if (synchronize_with_each_other(now, earlier)) return false;
        if (now.role == Role::write && earlier.role == Role::write && is_there_already(now, lane))
            return false;
        add(now, lane, earlier);
        return true;
    }

    /// Volatile accesses and atomics that synchronize by being unordered.
    bool synchronize_with_each_other(const Now& now, const EarlierAccess& earlier) {
        const bool is_volatile = now.instruction.ordering == Ordering::as_volatile;
        const bool earlier_is_volatile = ids_.instruction(earlier.id).ordering == Ordering::as_volatile;
        if (now.role == Role::atomic) return earlier_is_volatile || is_cas_load(earlier.id, earlier.role);
        if (earlier.role == Role::atomic) return is_volatile || is_cas_load(now.id, now.role);
        if (!is_volatile || !earlier_is_volatile) return false;
        if (earlier.block != now.state.number) return true;
        const MemoryOrder& order = now.state.order;
        return (now.role == Role::write && order.fenced_before(order.stamp(now.warp.index()))) ||
               (earlier.role == Role::write && order.fenced_before(earlier.stamp));
    }

    bool is_cas_load(InstructionId id, Role role) {
        if (role != Role::read) return false;
        const auto [guess, is_new] = cas_loads_.try_emplace(id);
        if (is_new) guess->second = is_cas_loop_load(ids_.code(id), InstructionIds::pc(id));
        return guess->second;
    }

    static bool is_there_already(const Now& now, int lane) {
        if (now.access.is_copy) return false;
        const std::uint64_t address = now.access.addresses[lane];
        const std::byte* const place = now.access.space == ptx::Space::shared
                                           ? owner_of(now).shared().data() + address
                                           : reinterpret_cast<const std::byte*>(address);
        return std::memcmp(now.warp.stored_value(now.instruction, lane).data(), place,
                           now.instruction.bytes) == 0;
    }

    /// The owner of the shared memory.
    static const Block& owner_of(const Now& now) {
        return now.access.remote ? *now.access.remote : now.warp.block();
    }

    void check_collision(const Now& now, int lane, int other) {
        ++findings_or_reads_;
        if (now.access.is_copy && !(now.copy && now.copy->from)) return;
        const auto value = [&](int one) {
            return now.copy ? copied_value(*now.copy, one) : now.warp.stored_value(now.instruction, one);
        };
        if (value(lane) != value(other))
            add(now, lane,
                {now.state.number, now.state.order.stamp(now.warp.index()), other, now.id, now.role, true});
    }

    // ---- findings ----

    void add(const Now& now, int lane, const EarlierAccess& earlier) {
        const InstructionId here = ids_.of_line(now.id), there = ids_.of_line(earlier.id);
        findings_.add(
            {sort_of(now.role, earlier.role), std::min(here, there), std::max(here, there)}, 1, [&] {
                return finding(grid_, ids_,
                               {now.warp, now.instruction, now.access, now.role, lane, now.state.number,
                                now.state.has_atomics, earlier, grid_order_.history(now.state.number),
                                grid_order_.history(earlier.block)});
            });
    }

    static constexpr std::uint64_t page_bytes = 4096;

    LocalFindings<std::tuple<RaceSort, InstructionId, InstructionId>> findings_;
    const Grid& grid_;
    const RaceOptions options_;
    bool needs_all_ = false;
    bool has_clusters_ = false; // or a cluster barrier: without clusters each block is its own cluster
    std::uint64_t findings_or_reads_ = 0;
    InstructionIds ids_;
    std::unordered_map<InstructionId, bool> cas_loads_; // whether the read there is one, once computed
    std::unordered_map<const Block*, std::unique_ptr<BlockState>> blocks_; // storage of blocks, reused
    std::pair<const Block*, BlockState*> current_{};
    std::unordered_map<std::uint64_t, AccessShadow<GridActor>> global_; // by page
    std::pair<std::uint64_t, AccessShadow<GridActor>*> last_page_{};
    std::unordered_map<std::uint64_t, GridActor::Record>
        narrow_atomics_; // the last block-scope one, by location
    GridOrder grid_order_;
    std::unordered_map<const Cluster*, ClusterOrder> clusters_; // storage, used again
};

} // namespace

std::unique_ptr<Observer> RaceChecker::observer(const Grid& grid) {
    return std::make_unique<RaceObserver>(findings_, grid, options_);
}

} // namespace emulator

#include "emulator/check/race/race_checker.hpp"

#include "emulator/check/local_findings.hpp"
#include "emulator/check/race/benign_races.hpp"
#include "emulator/check/race/block_state.hpp"
#include "emulator/check/race/current_access.hpp"
#include "emulator/check/race/global_shadow.hpp"
#include "emulator/check/race/narrow_atomics.hpp"
#include "emulator/check/race/race_finding.hpp"
#include "emulator/check/race/synchronization.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/mbarrier.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <vector>

namespace emulator {

namespace {

/// The function, and those it can reach.
void add_reachable(const Code& code, std::vector<const Code*>& found) {
    if (std::find(found.begin(), found.end(), &code) != found.end()) return;
    found.push_back(&code);
    for (const Code* const callee : code.callees) add_reachable(*callee, found);
}

std::vector<const Code*> reachable(const Code& code) {
    std::vector<const Code*> found;
    add_reachable(code, found);
    return found;
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

const Block* remote_owner(const Block& owner, const Warp& warp) {
    return &owner == &warp.block() ? nullptr : &owner;
}

/// Of one lane, which stores no value.
Access of_lane(ptx::Space space, AccessKind kind, std::uint32_t bytes, int lane, std::uint64_t address) {
    return {.space = space,
            .kind = kind,
            .bytes = bytes,
            .active = LaneMask{1} << lane,
            .addresses = {LaneMask{1} << lane, address, bytes},
            .is_copy = true};
}

/// Calls `visit(access)` for the pieces that a copy writes, as large as an access may be.
template <class Visit> void for_each_piece(const AsyncCopy& copy, Visit visit) {
    std::array<std::uint64_t, warp_size> addresses;
    std::copy_n(copy.addresses, warp_size, addresses.begin());
    for (std::uint32_t left = copy.bytes; left != 0;) {
        const Access access{.space = ptx::Space::shared,
                            .kind = AccessKind::store,
                            .bytes = std::min(left, 16u),
                            .active = copy.lanes,
                            .addresses = addresses.data(),
                            .remote = remote_owner(*copy.target, *copy.warp),
                            .is_copy = true};
        visit(access);
        for (std::uint64_t& address : addresses) address += access.bytes;
        left -= access.bytes;
    }
}

Role role_of(const Instruction& instruction, AccessKind kind) {
    const bool is_strong =
        instruction.ordering != Ordering::weak && instruction.ordering != Ordering::as_volatile;
    if (is_strong || kind == AccessKind::atom || kind == AccessKind::red) return Role::atomic;
    return kind == AccessKind::load ? Role::read : Role::write;
}

bool is_copy(const InstructionIds& ids, InstructionId id) {
    const ptx::Statement* const statement = ids.code(id).statements[InstructionIds::pc(id)];
    return statement && std::any_of(statement->modifiers.begin(), statement->modifiers.end(),
                                    [](const ptx::Modifier& modifier) { return modifier.text == ".async"; });
}

EarlierAccess earlier_of(const BlockActor::Record& record, Role role, std::uint32_t block) {
    return {block, record.stamp, std::countr_zero(record.lanes), record.id, role};
}
EarlierAccess earlier_of(const GridActor::Record& record, Role role) {
    return {block_of(record.stamp), in_block(record.stamp), std::countr_zero(record.lanes), record.id, role};
}

std::uint32_t number_in(const Grid& grid, Dim3 block) {
    const Dim3 size = grid.configuration.grid;
    return static_cast<std::uint32_t>(block.x +
                                      std::uint64_t{size.x} * (block.y + std::uint64_t{size.y} * block.z));
}

class RaceObserver final : public Observer {
public:
    /// `codes`: the kernel's function, and those that it can reach.
    RaceObserver(Findings& findings, const Grid& grid, RaceOptions options,
                 const std::vector<const Code*>& codes)
        : findings_(findings), grid_(grid), options_(options),
          needs_all_(any_instruction(codes, orders_some_threads)),
          has_clusters_(grid.has_clusters || any_instruction(codes, is_cluster_barrier)) {
        for (const Code* const code : codes) ids_(*code, 0);
    }

    bool wants(EventKind kind) const override {
        return kind == EventKind::shared_access || kind == EventKind::synchronizing_access ||
               (kind == EventKind::global_access && options_.global) || kind == EventKind::barrier ||
               kind == EventKind::warp_sync;
    }
    std::uint64_t findings_or_reads() const override { return findings_or_reads_; }

    void block_started(Block& block) override {
        BlockState& state = blocks_.start(block, options_.ticks);
        state.order.start();
        state.before_start = state.order.epoch() - 1;
        state.number = number_in(grid_, block.index());
        state.is_out_of_step = state.has_atomics = false;
        state.copies.clear();
        synchronization_.start(state, block);
        forget_if_used_up(block);
        if (has_clusters_) state.shared_in_cluster.start(block.shared().size());
    }
    void block_ended(Block& block) override {
        if (has_clusters_) check_end_of_shared_memory(block);
    }
    void exited(const Warp& warp, LaneMask lanes) override {
        if (!has_clusters_) return;
        const ConvergenceGroup& running = warp.running();
        blocks_.of(warp.block()).last_exit = {warp.index(), std::countr_zero(lanes),
                                              ids_(*running.frame->code, running.pc)};
    }

    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
        const bool is_shared = access.space == ptx::Space::shared;
        const bool synchronizes = may_synchronize(instruction, access.kind);
        BlockState& state = blocks_.of(warp.block());
        if (state.is_out_of_step) return;
        const CurrentAccess now{
            state, warp, instruction, access, ids_(instruction), role_of(instruction, access.kind)};
        if (is_shared) check_copies(now);
        if (synchronizes) synchronization_.acquire(now);
        const BlockActor actor(state.order, warp.index(), now.id, needs_all_);
        if (is_shared && is_reserved(access)) {
            // Lanes of a warp synchronize there by votes and shuffles, which order nothing in the program's
            // memory.
        } else if (is_shared)
            check_shared(now, actor);
        else if (options_.global)
            check_global(now, actor);
        if (!synchronizes) return;
        synchronization_.release(now);
        forget_if_used_up(warp.block());
    }

    void barrier_arrive(const Warp& warp, const Instruction&, const BarrierArrival& arrival) override {
        blocks_.of(warp.block()).order.barrier_arrive(warp.index(), arrival);
        forget_if_used_up(warp.block());
    }
    void barrier_complete(Block& block, const BarrierCompletion& completion) override {
        synchronization_.barrier_complete(block, completion);
        forget_if_used_up(block);
    }
    void warp_sync_complete(const Warp& warp, const Instruction&, LaneMask lanes, bool is_barrier) override {
        if (!is_barrier) return;
        blocks_.of(warp.block()).order.warp_barrier_arrive(warp, lanes);
        forget_if_used_up(warp.block());
    }
    void fenced(const Warp& warp, const Instruction& instruction, LaneMask) override {
        synchronization_.fenced(warp, instruction, ids_(instruction));
        forget_if_used_up(warp.block());
    }
    void used_mbarrier(const Warp& warp, const Instruction& instruction, int lane, MbarrierUse use,
                       const Block& owner, std::uint64_t offset) override {
        access_mbarrier(warp, instruction, lane, use == MbarrierUse::initialize, owner, offset);
        synchronization_.used_mbarrier(warp, use, owner, offset);
        forget_if_used_up(warp.block());
    }
    void cluster_barrier_arrive(const Warp& warp, const Instruction&,
                                const ClusterArrival& arrival) override {
        if (!has_clusters_) return;
        synchronization_.cluster_barrier_arrive(warp, arrival);
        forget_if_used_up(warp.block());
    }
    void cluster_barrier_complete(const Cluster& cluster) override {
        if (has_clusters_) synchronization_.cluster_barrier_complete(cluster);
    }

    void copy_started(const AsyncCopy& copy) override {
        write_copy(copy, true);
        const BlockState& state = blocks_.of(copy.warp->block());
        blocks_.of(*copy.target)
            .copies.start(copy, {.block = state.number,
                                 .stamp = state.order.stamp(copy.warp->index()),
                                 .id = ids_(*copy.code, *copy.instruction),
                                 .role = Role::write});
    }
    void copy_ended(const AsyncCopy& copy) override {
        blocks_.of(*copy.target).copies.end(copy);
        write_copy(copy, false);
    }

    /// A piece of the heap has no past: the heap orders its uses by one owner before those by the next.
    void used_heap(const Warp& warp, const Instruction& instruction, int lane, HeapUse use,
                   std::uint64_t first, std::size_t bytes) override {
        if (!options_.global) return;
        constexpr std::size_t unit = 16; // pieces consist of these
        if (use == HeapUse::allocate) {
            const std::size_t all = std::max(unit, (bytes + unit - 1) / unit * unit);
            global_.forget(first, all);
            narrow_atomics_.forget(first, all);
            return;
        }
        BlockState& state = blocks_.of(warp.block());
        if (state.is_out_of_step) return;
        // Whoever frees a piece must be done with it, as must all others.
        for (std::uint64_t place = first; place < first + bytes; place += unit) {
            const Access access = of_lane(ptx::Space::global, AccessKind::store, unit, lane, place);
            const CurrentAccess now{state, warp, instruction, access, ids_(instruction), Role::write};
            check_global(now, {state.order, warp.index(), now.id, needs_all_});
        }
    }

    /// Blocks may synchronize through another launch. So nothing is known of their order any more.
    void launch_paused() override {
        global_.clear();
        narrow_atomics_.clear();
    }

    /// From here on, threads of the block have passed barriers at which they should still wait.
    bool absorbs_deadlock(Block& block) override {
        blocks_.of(block).is_out_of_step = true;
        return false;
    }

private:
    void forget_if_used_up(Block& block) {
        BlockState& state = blocks_.of(block);
        if (!state.order.is_used_up()) return;
        state.shared = AccessShadow<BlockActor>(block.shared().size());
        state.order.forget();
        global_.clear();
        narrow_atomics_.clear();
        synchronization_.forget();
        blocks_.for_each(
            [](const Block& other, BlockState& its) { its.shared_in_cluster.forget(other.shared().size()); });
    }

    // ---- asynchronous copies ----

    /// Finds accesses to bytes that a copy is still writing, including accesses by its own thread.
    void check_copies(const CurrentAccess& now) {
        state_of_owner(now).copies.for_each_touched(
            now, [&](int lane, const EarlierAccess& copy) { add(now, lane, copy); });
    }

    /// Most bulk copies conflict with nothing: then one test of all that they write is enough. Returns
    /// whether it was.
    bool write_undisturbed(const AsyncCopy& copy, bool starts) {
        if (has_clusters_ || !std::has_single_bit(copy.lanes)) return false;
        const std::uint64_t first = copy.addresses[std::countr_zero(copy.lanes)];
        const Warp& warp = *copy.warp;
        BlockState& state = blocks_.of(warp.block());
        if (starts && !state.copies.empty() && state.copies.may_write(first, first + copy.bytes - 1))
            return false;
        const BlockActor actor(state.order, warp.index(), ids_(*copy.code, *copy.instruction), needs_all_);
        return state.shared.access_undisturbed(actor, Role::write, LaneAddresses(copy.addresses), copy.bytes,
                                               copy.lanes);
    }

    /// A copy writes from its start to its end: earlier accesses must happen before its start, later ones
    /// after its end.
    void write_copy(const AsyncCopy& copy, bool starts) {
        const Warp& warp = *copy.warp;
        BlockState& state = blocks_.of(warp.block());
        if (state.is_out_of_step || write_undisturbed(copy, starts)) return;
        for_each_piece(copy, [&](const Access& access) {
            const CurrentAccess now{state,
                                    warp,
                                    *copy.instruction,
                                    access,
                                    ids_(*copy.code, *copy.instruction),
                                    Role::write,
                                    starts ? &copy : nullptr};
            if (starts) check_copies(now);
            check_shared(now, {state.order, warp.index(), now.id, needs_all_}, starts);
        });
    }

    // ---- mbarriers ----

    /// The initialization writes the mbarrier. Whatever uses it is an atomic, before it orders anything. So is
    /// an invalidation: libcu++'s pipelines order it by no more than a vote.
    void access_mbarrier(const Warp& warp, const Instruction& instruction, int lane, bool writes,
                         const Block& owner, std::uint64_t offset) {
        BlockState& state = blocks_.of(warp.block());
        if (state.is_out_of_step) return;
        Access access = of_lane(ptx::Space::shared, writes ? AccessKind::store : AccessKind::atom,
                                Mbarrier::bytes, lane, offset);
        access.remote = remote_owner(owner, warp);
        const CurrentAccess now{
            state, warp, instruction, access, ids_(instruction), writes ? Role::write : Role::atomic};
        check_shared(now, {state.order, warp.index(), now.id, needs_all_});
    }

    // ---- hazards ----

    /// `finds`: report hazards; else only record the access.
    void check_shared(const CurrentAccess& now, const BlockActor& actor, bool finds = true) {
        if (has_clusters_) return check_shared_of_cluster(now, actor, finds);
        if (now.is_read_by_copy())
            check_proxy(now,
                        earlier_of(now.state.shared.last_write(now.first()), Role::write, now.state.number));
        now.state.shared.access(
            actor, now.role, now.access.addresses, now.access.bytes, now.access.active,
            [&](int lane, const BlockActor::Record& record, Role role) {
                return !finds || is_hazard(now, lane, earlier_of(record, role, now.state.number));
            },
            [&](int lane, int other) { check_collision(now, lane, other); });
    }

    [[gnu::noinline]] void check_shared_of_cluster(const CurrentAccess& now, const BlockActor& in_block_actor,
                                                   bool finds) {
        if (finds && now.access.remote) check_start_of_owner(now);
        ClusterSharedMemory& shared = state_of_owner(now).shared_in_cluster;
        if (now.is_read_by_copy()) check_proxy(now, earlier_of(shared.last_write(now.first()), Role::write));
        shared.access(
            now, grid_actor(now, in_block_actor),
            [&](int lane, const GridActor::Record& record, Role role) {
                return !finds || is_hazard(now, lane, earlier_of(record, role));
            },
            [&](int lane, int other) { check_collision(now, lane, other); });
    }

    /// A bulk copy reads through the async proxy what a thread has written through the generic one. A fence by
    /// any thread of the block will do, since it may lie anywhere on the way from the write to the copy.
    void check_proxy(const CurrentAccess& now, EarlierAccess write) {
        const bool is_written = write.stamp != 0 && write.block == now.state.number;
        if (!is_written || write.stamp < now.state.proxy_fenced || is_copy(ids_, write.id)) return;
        ++findings_or_reads_;
        write.lacks_proxy_fence = true;
        add(now, std::countr_zero(now.access.active), write);
    }

    void check_start_of_owner(const CurrentAccess& now) {
        const BlockState& owner = state_of_owner(now);
        if (owner.before_start == 0 ||
            now.state.others.knows(now.warp.index(), owner.number, owner.before_start))
            return;
        ++findings_or_reads_;
        const InstructionId here = ids_.of_line(now.id);
        findings_.add({RaceSort::start_of_block, here, here}, std::popcount(now.access.active),
                      [&] { return early_visit(grid_, now.owner(), visit_of(now)); });
    }

    void check_end_of_shared_memory(const Block& block) {
        BlockState& state = blocks_.of(block);
        if (state.is_out_of_step) return;
        state.shared_in_cluster.end(state.others, [&](const Visit& visit) {
            const InstructionId exit = ids_.of_line(state.last_exit.id);
            findings_.add({RaceSort::end_of_block, exit, exit}, 1,
                          [&] { return late_visit(grid_, ids_, block, state.last_exit, visit); });
        });
    }

    [[gnu::noinline]] void check_global(const CurrentAccess& now, const BlockActor& in_block_actor) {
        if (now.role == Role::atomic)
            narrow_atomics_.access(now, [&](int lane, const GridActor::Record& record) {
                add(now, lane, earlier_of(record, Role::atomic));
            });
        global_.access(
            grid_actor(now, in_block_actor), now.role, now.access.addresses, now.access.bytes,
            now.access.active,
            [&](int lane, const GridActor::Record& record, Role role) {
                return is_hazard(now, lane, earlier_of(record, role));
            },
            [&](int lane, int other) { check_collision(now, lane, other); });
    }

    GridActor grid_actor(const CurrentAccess& now, const BlockActor& in_block) const {
        return {in_block, now.state.number, now.warp.index(), now.state.others, has_clusters_};
    }

    /// In the shared memory that CUDA reserves for itself, where cooperative groups have their barriers.
    bool is_reserved(const Access& access) const {
        return access.addresses[std::countr_zero(access.active)] < grid_.kernel.reserved_shared_bytes();
    }

    /// Whether an unordered access is a hazard. If so, reports it.
    bool is_hazard(const CurrentAccess& now, int lane, const EarlierAccess& earlier) {
        ++findings_or_reads_;
        if (benign_.includes(now, lane, earlier)) return false;
        add(now, lane, earlier);
        return true;
    }

    void check_collision(const CurrentAccess& now, int lane, int other) {
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

    void add(const CurrentAccess& now, int lane, const EarlierAccess& earlier) {
        const InstructionId here = ids_.of_line(now.id), there = ids_.of_line(earlier.id);
        findings_.add(
            {sort_of(now.role, earlier.role), std::min(here, there), std::max(here, there)}, 1, [&] {
                return finding(grid_, ids_,
                               {now.warp, now.instruction, now.access, now.role, lane, now.state.number,
                                now.state.has_atomics, earlier, synchronization_.history(now.state.number),
                                synchronization_.history(earlier.block)});
            });
    }

    BlockState& state_of_owner(const CurrentAccess& now) const {
        return now.access.remote ? blocks_.of_other(*now.access.remote) : now.state;
    }

    LocalFindings<std::tuple<RaceSort, InstructionId, InstructionId>> findings_;
    const Grid& grid_;
    const RaceOptions options_;
    const bool needs_all_;
    const bool has_clusters_; // or a cluster barrier
    std::uint64_t findings_or_reads_ = 0;
    InstructionIds ids_;
    BlockStates blocks_;
    GlobalShadow global_;
    Synchronization synchronization_{blocks_, options_.global, has_clusters_};
    NarrowAtomics narrow_atomics_{has_clusters_};
    BenignRaces benign_{ids_};
};

} // namespace

std::unique_ptr<Observer> RaceChecker::observer(const Grid& grid) {
    return std::make_unique<RaceObserver>(findings_, grid, options_, reachable(grid.kernel.code()));
}

} // namespace emulator

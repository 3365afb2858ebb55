#include "emulator/check/race/synchronization.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/describe.hpp"

#include <algorithm>

namespace emulator {

namespace {

/// The first location of a block's shared memory. A location is an address in global memory, or a number that
/// is not an address.
std::uint64_t shared_memory_of(const BlockState& state) {
    return std::uint64_t{1} << 63 | std::uint64_t{state.number} << 32;
}

/// What a relaxed arrival releases too: that the block has started.
GridClock start_of(const BlockState& state) {
    MemoryOrder::Clock began;
    began.fill(state.before_start + 1);
    GridClock start;
    start.join(state.number, began);
    return start;
}

} // namespace

void Synchronization::start(BlockState& state, const Block& block) {
    std::uint32_t first = state.number;
    if (has_clusters_) {
        state.cluster = &clusters_[&block.cluster()];
        if (block.rank() == 0) state.cluster->start();
        first = blocks_.of_other(*block.cluster().blocks().front()).number;
    }
    grid_order_.start(state.others, state.number, first);
}

void Synchronization::forget() {
    grid_order_.forget();
    blocks_.for_each([&](const Block&, BlockState& state) {
        grid_order_.forget(state.others);
        state.before_start = state.proxy_fenced = 0;
    });
    for (auto& [cluster, order] : clusters_) order.forget();
}

// ---- fences, atomics and volatile accesses ----

std::uint64_t Synchronization::first_location(const CurrentAccess& now) const {
    if (now.access.space != ptx::Space::shared) return 0;
    return shared_memory_of(now.access.remote ? blocks_.of_other(*now.access.remote) : now.state);
}

template <class Visit> void Synchronization::for_each_location(const CurrentAccess& now, Visit visit) const {
    const std::uint64_t first = first_location(now);
    std::uint64_t last = ~std::uint64_t{0};
    for_each_lane(now.access.active, [&](int lane) {
        const std::uint64_t address = now.access.addresses[lane];
        if (address != last) visit(first | address);
        last = address;
    });
}

void Synchronization::acquire(const CurrentAccess& now) {
    if (now.access.kind == AccessKind::store || now.access.kind == AccessKind::red) return;
    const bool in_block = now.state.order.has_releases();
    const bool in_grid = orders_blocks(now) && grid_order_.may_read();
    if (!in_block && !in_grid) return;
    const bool acquires = does_acquire(now.instruction);
    const std::uint32_t warp = now.warp.index();
    for_each_location(now, [&](std::uint64_t location) {
        if (in_block) now.state.order.acquire_from(warp, location, acquires);
        if (in_grid) grid_order_.read(now.state.others, warp, location, now.instruction.scope, acquires);
    });
}

void Synchronization::release(const CurrentAccess& now) {
    if (now.role == Role::atomic) now.state.has_atomics = true;
    const std::uint32_t warp = now.warp.index();
    const bool writes = now.access.kind != AccessKind::load;
    const bool releases = writes && does_release(now.instruction);
    if (releases) now.state.order.fenced(warp);
    if (writes && now.state.order.can_release(warp))
        for_each_location(now, [&](std::uint64_t location) { now.state.order.release_to(warp, location); });
    if (!orders_blocks(now)) return;
    const Scope scope = now.instruction.scope;
    if (releases) {
        const MemoryOrder::Clock own = now.state.order.release(warp);
        for_each_location(now, [&](std::uint64_t location) {
            grid_order_.released(now.state.others, warp, location, scope, own);
        });
    } else if (writes && grid_order_.may_write(now.state.others)) {
        for_each_location(
            now, [&](std::uint64_t location) { grid_order_.wrote(now.state.others, warp, location, scope); });
    }
    const bool reads = now.access.kind == AccessKind::load || now.access.kind == AccessKind::atom;
    const auto [lowest, highest] =
        std::minmax_element(now.access.addresses.data(), now.access.addresses.data() + warp_size);
    const std::uint64_t first = first_location(now);
    remember(now.state, now.warp,
             {.id = now.id,
              .what = role_of(now.access.kind),
              .scope = scope,
              .first_place = first | *lowest,
              .last_place = first | *highest,
              .reads = reads,
              .writes = writes,
              .acquires = reads && does_acquire(now.instruction),
              .releases = releases});
}

void Synchronization::fenced(const Warp& warp, const Instruction& instruction, InstructionId id) {
    BlockState& state = blocks_.of(warp.block());
    if (instruction.sync == SyncKind::proxy_fence) {
        state.order.start_tick();
        state.proxy_fenced = state.order.stamp(0);
        return;
    }
    if (orders_blocks_) remember(state, warp, {.id = id, .what = "fence", .scope = instruction.scope});
    state.order.fenced(warp.index());
    if (orders_blocks_)
        grid_order_.fenced(state.others, warp.index(), instruction.scope, state.order.release(warp.index()));
}

void Synchronization::remember(BlockState& state, const Warp& warp, SyncEvent event) {
    event.stamp = state.order.stamp(warp.index());
    if (grid_order_.remember(state.others, event)) state.order.start_tick();
}

// ---- barriers ----

void Synchronization::barrier_complete(Block& block, const BarrierCompletion& completion) {
    BlockState& state = blocks_.of(block);
    state.order.barrier_complete(block, completion);
    std::uint32_t warps = 0;
    for (std::size_t warp = 0; warp < completion.arrived.size(); ++warp)
        if (completion.arrived[warp] != 0) warps |= 1u << warp;
    grid_order_.met(state.others, warps);
}

void Synchronization::used_mbarrier(const Warp& warp, MbarrierUse use, const Block& owner,
                                    std::uint64_t offset) {
    BlockState& state = blocks_.of(warp.block());
    const std::uint32_t index = warp.index();
    const auto location = [&] { return shared_memory_of(blocks_.of_other(owner)) | offset; };
    if (use == MbarrierUse::arrive) {
        if (&owner == &warp.block()) state.order.arrived_at_mbarrier(index, offset);
        if (has_clusters_)
            grid_order_.released(state.others, index, location(), Scope::gpu, state.order.release(index));
    } else if (use == MbarrierUse::wait) {
        state.order.waited_at_mbarrier(index, offset);
        if (has_clusters_) grid_order_.read(state.others, index, location(), Scope::gpu, true);
    }
}

void Synchronization::cluster_barrier_arrive(const Warp& warp, const ClusterArrival& arrival) {
    BlockState& state = blocks_.of(warp.block());
    const std::uint32_t rank = warp.block().rank(), index = warp.index();
    if (arrival.waits && (warp.block().cluster().arrived(warp) & arrival.lanes) == 0)
        grid_order_.learn(state.others, index, state.cluster->ended());
    else if (arrival.waits)
        state.cluster->wait(rank, index);
    else if (arrival.orders)
        state.cluster->arrive(grid_order_.knowledge(state.others, index, state.order.release(index)));
    else if (const auto* const released = state.order.released_by_fence(index))
        state.cluster->arrive(grid_order_.knowledge(state.others, index, *released));
    if (!arrival.waits && !arrival.orders) state.cluster->arrive(start_of(state));
}

void Synchronization::cluster_barrier_complete(const Cluster& cluster) {
    ClusterOrder& order = *blocks_.of(*cluster.blocks().front()).cluster;
    order.phase_ended();
    for (const auto& block : cluster.blocks())
        for_each_lane(order.take_waiting(block->rank()), [&](int warp) {
            grid_order_.learn(blocks_.of(*block).others, static_cast<std::uint32_t>(warp), order.ended());
        });
}

} // namespace emulator

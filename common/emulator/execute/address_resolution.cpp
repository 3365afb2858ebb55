#include "emulator/execute/address_resolution.hpp"

#include "emulator/execute/lanewise.hpp"
#include "emulator/machine/access_diagnosis.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/fault.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/program/decoder.hpp"

#include <algorithm>

namespace emulator {

namespace {

using ptx::Space;

[[noreturn]] void reject(Failure failure, int lane, const Instruction& instruction, AccessKind kind,
                         Space space, const Addresses& addresses, std::uint32_t rank = LaneAccess::own) {
    throw Fault{.failure = failure,
                .lane = lane,
                .instruction = &instruction,
                .access = LaneAccess{space, kind, instruction.bytes, addresses[lane], rank}};
}

[[noreturn]] void misaligned(const Instruction& instruction, LaneMask active, AccessKind kind, Space space,
                             const Addresses& addresses) {
    int lane = std::countr_zero(active);
    for_each_lane(active, [&](int l) {
        if (addresses[l] % instruction.bytes != 0 && addresses[lane] % instruction.bytes == 0) lane = l;
    });
    reject(Failure::misaligned_address, lane, instruction, kind, space, addresses);
}

void check_alignment(const Instruction& instruction, LaneMask active, AccessKind kind, Space space,
                     const Addresses& addresses) {
    std::uint64_t bits = 0;
    for (int lane = 0; lane < warp_size; ++lane) bits |= addresses[lane];
    if ((bits & (instruction.bytes - 1u)) != 0) misaligned(instruction, active, kind, space, addresses);
}

/// Whether every lane's bytes lie in the `size` bytes from `first` on.
bool all_inside(const Addresses& addresses, std::uint64_t first, std::uint64_t size, std::uint32_t bytes) {
    if (size < bytes) return false;
    const std::uint64_t last = size - bytes;
    std::uint64_t outside = 0;
    for (int lane = 0; lane < warp_size; ++lane) outside |= addresses[lane] - first > last ? 1u : 0u;
    return outside == 0;
}

void notify_observers(const Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
                      Space space, const Addresses& addresses, const Block* remote = nullptr) {
    const Access access{space, kind, instruction.bytes, active, addresses.lane.data(), remote};
    for (Observer* const observer : warp.block().subscribers(event_of(instruction, access)))
        observer->accessed(warp, instruction, access);
}

bool is_allowed(AccessKind kind, const Allocation& allocation) {
    return kind == AccessKind::load || allocation.writable;
}

void check_global(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind, Space space,
                  const Addresses& addresses) {
    Block& block = warp.block();
    const Allocation* const likely = block.allocation(addresses[std::countr_zero(active)], instruction.bytes);
    if (likely && all_inside(addresses, likely->address, likely->bytes, instruction.bytes) &&
        is_allowed(kind, *likely))
        return;
    for_each_lane(active, [&](int lane) {
        const Allocation* const allocation = block.allocation(addresses[lane], instruction.bytes);
        if (!allocation || !is_allowed(kind, *allocation))
            reject(Failure::illegal_address, lane, instruction, kind, space, addresses);
    });
}

/// For memory in one piece with offsets from 0: shared, local and parameters.
void check_extent(const Instruction& instruction, LaneMask active, AccessKind kind, Space space,
                  const Addresses& addresses, std::uint64_t size, std::uint32_t rank = LaneAccess::own) {
    if (all_inside(addresses, 0, size, instruction.bytes)) return;
    for_each_lane(active, [&](int lane) {
        if (addresses[lane] <= size && instruction.bytes <= size - addresses[lane]) return;
        reject(Failure::illegal_address, lane, instruction, kind, space, addresses, rank);
    });
}

/// Whether all accesses are aligned and lie in memory with offsets from 0: the common case, in one loop.
bool are_valid(const Addresses& addresses, std::uint64_t size, std::uint32_t bytes) {
    if (size < bytes) return false;
    const std::uint64_t last = size - bytes, unaligned = bytes - 1;
    std::uint64_t wrong = 0;
    for (int lane = 0; lane < warp_size; ++lane)
        wrong |= (addresses[lane] & unaligned) | (addresses[lane] > last ? 1u : 0u);
    return wrong == 0;
}

void move_by(Addresses& addresses, std::uint64_t distance) {
    for (int lane = 0; lane < warp_size; ++lane) addresses[lane] += distance;
}

/// The block of this rank in the warp's cluster; null if there is none, or if it has exited.
Block* block_of(Warp& warp, std::uint32_t rank) {
    if (rank == LaneAccess::own) return &warp.block();
    const auto blocks = warp.block().cluster().blocks();
    return rank < blocks.size() && !blocks[rank]->is_finished() ? blocks[rank].get() : nullptr;
}

/// Addresses are offsets in the shared memory of the block of this rank. Not inline, to keep the common path
/// short.
[[gnu::noinline]] void resolve_in_cluster(Warp& warp, const Instruction& instruction, LaneMask active,
                                          AccessKind kind, Addresses& addresses, std::uint32_t rank) {
    check_alignment(instruction, active, kind, Space::shared, addresses);
    Block* const remote = block_of(warp, rank);
    if (!remote)
        reject(Failure::launch_failure, std::countr_zero(active), instruction, kind, Space::shared, addresses,
               rank);
    check_extent(instruction, active, kind, Space::shared, addresses, remote->shared().size(), rank);
    notify_observers(warp, instruction, active, kind, Space::shared, addresses, remote);
    move_by(addresses, reinterpret_cast<std::uintptr_t>(remote->shared().data()));
}

void resolve_in(Space space, Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
                Addresses& addresses) {
    check_alignment(instruction, active, kind, space, addresses);
    switch (space) {
    case Space::shared: {
        const auto shared = warp.block().shared();
        check_extent(instruction, active, kind, space, addresses, shared.size());
        notify_observers(warp, instruction, active, kind, space, addresses);
        return move_by(addresses, reinterpret_cast<std::uintptr_t>(shared.data()));
    }
    case Space::local:
        check_extent(instruction, active, kind, space, addresses, warp.local_bytes());
        notify_observers(warp, instruction, active, kind, space, addresses);
        for (int lane = 0; lane < warp_size; ++lane)
            addresses[lane] += reinterpret_cast<std::uintptr_t>(warp.local(lane));
        return;
    case Space::param: {
        const auto parameters = warp.block().grid().parameters;
        check_extent(instruction, active, kind, space, addresses, parameters.size());
        if (kind != AccessKind::load)
            reject(Failure::illegal_address, std::countr_zero(active), instruction, kind, space, addresses);
        return move_by(addresses, reinterpret_cast<std::uintptr_t>(parameters.data()));
    }
    default:
        check_global(warp, instruction, active, kind, space, addresses);
        notify_observers(warp, instruction, active, kind, space, addresses);
    }
}

/// Leaves out the lanes whose fault an observer absorbs. Returns the others.
LaneMask resolve_or_absorb(Space space, Warp& warp, const Instruction& instruction, LaneMask active,
                           AccessKind kind, Addresses& addresses, std::uint32_t rank = LaneAccess::own) {
    while (active != 0) {
        try {
            if (rank == LaneAccess::own)
                resolve_in(space, warp, instruction, active, kind, addresses);
            else
                resolve_in_cluster(warp, instruction, active, kind, addresses, rank);
            return active;
        } catch (Fault& fault) {
            const LaneMask lane = LaneMask{1} << fault.lane;
            if (!is_absorbed(warp, fault, lane)) {
                fault.message = diagnose(warp.block(), fault.failure, *fault.access).message;
                throw;
            }
            active &= ~lane;
        }
        // Inactive lanes repeat the first active one.
        for (int lane = 0; active != 0 && lane < warp_size; ++lane)
            if ((active >> lane & 1) == 0) addresses[lane] = addresses[std::countr_zero(active)];
    }
    return 0;
}

/// One piece of memory that addresses of a request may lie in.
struct Region {
    Space space = Space::global;
    std::uint64_t mask = 0; ///< the bits that all addresses in it share
    std::uint64_t base = 0; ///< what they count from
    std::uint32_t rank = LaneAccess::own;
};

/// For the shared memory of a cluster. Without clusters there is only one block's, whatever the address.
Region shared_region(const Block& block, std::uint64_t address, std::uint64_t window) {
    if (!block.grid().has_clusters) return {Space::shared, window_mask, window};
    const std::uint64_t mask = ~(shared_rank_bytes - 1);
    const auto rank = static_cast<std::uint32_t>(
        std::min<std::uint64_t>((address - window) >> shared_rank_shift, LaneAccess::own - 1));
    return {Space::shared, mask, address & mask, rank == block.rank() ? LaneAccess::own : rank};
}

Region region_of(const Block& block, Space space, std::uint64_t address) {
    if (space == Space::shared_cluster) return shared_region(block, address, 0);
    switch (const std::uint64_t window = address & window_mask) {
    case shared_window: return shared_region(block, address, window);
    case local_window: return {Space::local, window_mask, window};
    case param_window: return {Space::param, window_mask, window};
    default: return {Space::global, window_mask, 0};
    }
}

/// Lanes may point into different regions: each region's lanes make a separate request.
LaneMask resolve_by_region(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
                           Addresses& addresses) {
    LaneMask resolved = 0;
    for (LaneMask left = active; left != 0;) {
        const std::uint64_t first = addresses[std::countr_zero(left)];
        const Region region = region_of(warp.block(), instruction.space, first);
        LaneMask group = 0;
        for (int lane = 0; lane < warp_size; ++lane)
            group |= LaneMask{((addresses[lane] ^ first) & region.mask) == 0} << lane;
        group &= left;
        left &= ~group;
        Addresses part;
        for (int lane = 0; lane < warp_size; ++lane)
            part[lane] = ((group >> lane & 1) != 0 ? addresses[lane] : first) - region.base;
        const LaneMask found =
            resolve_or_absorb(region.space, warp, instruction, group, kind, part, region.rank);
        resolved |= found;
        if (group == active) {
            addresses = part;
            break;
        }
        for_each_lane(found, [&](int lane) { addresses[lane] = part[lane]; });
    }
    return resolved;
}

/// Lanes whose address is not lane 0's plus `lane` strides.
template <class Base> LaneMask out_of_step(const Base* base, Base lane_0, Base stride) {
    constexpr int at_once = 64 / sizeof(Base); // cells of the widest vector register
    alignas(64) Base in_step[warp_size];
    for (Base lane = 0; lane < at_once; ++lane) in_step[lane] = lane_0 + lane * stride;
    for (int lane = at_once; lane < warp_size; ++lane)
        in_step[lane] = in_step[lane - at_once] + Base{at_once} * stride;
    return lanes_where<[](Base a, Base b) { return a != b; }, Base>(base, in_step);
}

template <class Base>
[[gnu::always_inline]] inline Warp::AddressPattern pattern_of(const Base* base, LaneMask active) {
    const int first_lane = std::countr_zero(active);
    // A single lane has any stride. Otherwise take the stride from the first lane to the next, even if that
    // one is inactive: it has usually computed its address too.
    const Base first = base[first_lane];
    const Base stride = (active & (active - 1)) == 0 ? 0 : base[first_lane + 1] - first;
    const Base lane_0 = first - static_cast<Base>(first_lane) * stride;
    return {base, active, (out_of_step(base, lane_0, stride) & active) == 0, first, stride};
}

/// For lanes with evenly spaced addresses.
[[gnu::always_inline]] inline StridedPointers
resolve_evenly_spaced(Warp& warp, const Instruction& instruction, const Access& access) {
    Block& block = warp.block();
    const LaneAddresses& addresses = access.addresses;
    if (((addresses.first() | static_cast<std::uint64_t>(addresses.stride())) & (access.bytes - 1)) != 0)
        return {};

    // If the lowest and the highest address lie in one piece of memory, so do all between them, unless the
    // strides wrap around all 64 bits. Addresses below zero make the lowest one lie past any memory.
    std::byte* first = reinterpret_cast<std::byte*>(addresses.first());
    if (access.space == Space::shared && block.rank() == 0) {
        const std::size_t size = block.shared().size();
        if (size < access.bytes || std::max(addresses.lowest(), addresses.highest()) > size - access.bytes)
            return {};
        first = block.shared().data() + addresses.first();
    } else if (access.space == Space::global) {
        const Allocation* const allocation = block.allocation(addresses.lowest(), access.bytes);
        if (!allocation || !allocation->contains(addresses.highest(), access.bytes)) return {};
        if (!is_allowed(access.kind, *allocation)) return {};
        const std::uint64_t stride = static_cast<std::uint64_t>(addresses.stride());
        if (std::min(stride, 0 - stride) > allocation->bytes) return {};
    } else {
        return {};
    }
    for (Observer* const observer : block.subscribers(event_of(instruction, access)))
        observer->accessed(warp, instruction, access);
    return {first, addresses.stride()};
}

} // namespace

template <class Base>
StridedPointers resolve_strided(Warp& warp, const Instruction& instruction, LaneMask active,
                                AccessKind kind) {
    const Base* const base = warp.cells<Base>(instruction.sources[0]);
    Warp::AddressPattern& pattern = warp.address_pattern(instruction.address_place);
    if (!instruction.is_address_remembered || pattern.cells != base || pattern.active != active)
        pattern = pattern_of(base, active);
    if (!pattern.is_strided) return {};
    const Base place = static_cast<Base>(pattern.first) + static_cast<Base>(instruction.displacement);
    const auto stride = static_cast<std::make_signed_t<Base>>(pattern.stride);
    return resolve_evenly_spaced(warp, instruction,
                                 {.space = instruction.space,
                                  .kind = kind,
                                  .bytes = instruction.bytes,
                                  .active = active,
                                  .addresses = {active, place, stride}});
}

template StridedPointers resolve_strided<std::uint32_t>(Warp&, const Instruction&, LaneMask, AccessKind);
template StridedPointers resolve_strided<std::uint64_t>(Warp&, const Instruction&, LaneMask, AccessKind);

LaneMask resolve_addresses(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
                           Addresses& addresses) {
    if (instruction.space == Space::shared && warp.block().rank() == 0) {
        const auto shared = warp.block().shared();
        if (are_valid(addresses, shared.size(), instruction.bytes)) {
            notify_observers(warp, instruction, active, kind, Space::shared, addresses);
            move_by(addresses, reinterpret_cast<std::uintptr_t>(shared.data()));
            return active;
        }
    }
    if (instruction.space == Space::generic || instruction.space == Space::shared_cluster)
        return resolve_by_region(warp, instruction, active, kind, addresses);
    // From offsets in the cluster's shared memory to those in the block's; usually the same.
    if (instruction.space == Space::shared && warp.block().rank() != 0)
        move_by(addresses, 0 - warp.block().shared_base());
    return resolve_or_absorb(instruction.space, warp, instruction, active, kind, addresses);
}

// ---- one lane ----

namespace {

/// `offset` counts in the block's shared memory. Nothing if the cluster lacks the block, or the block these
/// bytes.
std::optional<ResolvedAddress> in_shared(Warp& warp, const Region& region, std::uint64_t offset,
                                         std::uint32_t count) {
    Block* const owner = block_of(warp, region.rank);
    if (!owner) return std::nullopt;
    const std::uint64_t size = owner->shared().size();
    if (offset > size || count > size - offset) return std::nullopt;
    return ResolvedAddress{Space::shared, owner, offset, owner->shared().data() + offset};
}

std::optional<ResolvedAddress> in_global(Warp& warp, std::uint64_t address, std::uint32_t count,
                                         AccessKind kind) {
    const Allocation* const allocation = warp.block().allocation(address, count);
    if (!allocation || !is_allowed(kind, *allocation)) return std::nullopt;
    return ResolvedAddress{Space::global, nullptr, address, reinterpret_cast<std::byte*>(address)};
}

} // namespace

std::optional<ResolvedAddress> resolve_address(Warp& warp, const Instruction& instruction, int lane,
                                               Space space, std::uint64_t address, std::uint32_t count,
                                               std::uint32_t alignment, AccessKind kind) {
    if (space == Space::generic && (address & window_mask) == shared_window) {
        space = Space::shared;
        address -= shared_window;
    }
    const bool is_shared = space == Space::shared || space == Space::shared_cluster;
    const Region region = is_shared ? shared_region(warp.block(), address, 0) : Region{};
    const auto resolved = is_shared ? in_shared(warp, region, address - region.base, count)
                                    : in_global(warp, address, count, kind);
    const bool is_aligned = address % alignment == 0;
    if (resolved && is_aligned) return resolved;
    const LaneAccess access{is_shared ? Space::shared : Space::global, kind, count,
                            is_shared ? address - warp.block().shared_base() : address};
    Fault fault{
        is_aligned ? Failure::illegal_address : Failure::misaligned_address, lane, &instruction, {}, access};
    if (!is_aligned) fault.access->bytes = alignment;
    if (is_absorbed(warp, fault, LaneMask{1} << lane)) return std::nullopt;
    fault.message = diagnose(warp.block(), fault.failure, *fault.access).message;
    throw fault;
}

std::uint64_t AddressOperand::of(const Warp& warp, int lane) const {
    if (wide) return warp.cells<std::uint64_t>(row)[lane] + displacement;
    return static_cast<std::uint32_t>(warp.cells<std::uint32_t>(row)[lane] + displacement);
}

AddressOperand take_address(Decoding& statement, std::size_t k, Space space) {
    const Row row = statement.instruction.sources[0];
    const std::uint64_t displacement = statement.instruction.displacement;
    AddressOperand result;
    result.space = space;
    result.wide = statement.address(statement.operand(k), space);
    result.row = statement.instruction.sources[0];
    result.displacement = statement.instruction.displacement;
    statement.instruction.sources[0] = row;
    statement.instruction.displacement = displacement;
    return result;
}

} // namespace emulator

#include "emulator/execute/places.hpp"

#include "emulator/machine/access_diagnosis.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/memory/address_space.hpp"

namespace emulator {

namespace {

using ptx::Space;

/// The place of an offset in the shared memory of the cluster, or nothing if no block has it.
std::optional<Place> in_shared(Warp& warp, std::uint64_t offset, std::uint32_t count) {
    Block* owner = &warp.block();
    if (warp.block().grid().has_clusters) {
        const auto blocks = warp.block().cluster().blocks();
        const std::uint64_t rank = offset >> shared_rank_shift;
        if (rank >= blocks.size() || blocks[rank]->is_finished()) return std::nullopt;
        owner = blocks[rank].get();
        offset -= owner->shared_base();
    }
    const std::uint64_t size = owner->shared().size();
    if (offset > size || count > size - offset) return std::nullopt;
    return Place{Space::shared, owner, offset, owner->shared().data() + offset};
}

std::optional<Place> in_global(Warp& warp, std::uint64_t address, std::uint32_t count, AccessKind kind) {
    const Allocation* const allocation = warp.block().allocation(address, count);
    if (!allocation || (kind != AccessKind::load && !allocation->writable)) return std::nullopt;
    return Place{Space::global, nullptr, address, reinterpret_cast<std::byte*>(address)};
}

} // namespace

std::optional<Place> find_place(Warp& warp, const Instruction& instruction, int lane, Space space,
                                std::uint64_t address, std::uint32_t count, std::uint32_t alignment,
                                AccessKind kind) {
    if (space == Space::generic) {
        const bool is_shared = (address & window_mask) == shared_window;
        space = is_shared ? Space::shared : Space::global;
        if (is_shared) address -= shared_window;
    }
    const bool is_shared = space != Space::global;
    const std::optional<Place> place =
        is_shared ? in_shared(warp, address, count) : in_global(warp, address, count, kind);
    const bool is_aligned = address % alignment == 0;
    if (place && is_aligned) return place;
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
    const std::uint64_t immediate = statement.instruction.immediate;
    AddressOperand result;
    result.space = space;
    result.wide = statement.address(statement.operand(k), space);
    result.row = statement.instruction.sources[0];
    result.displacement = statement.instruction.immediate;
    statement.instruction.sources[0] = row;
    statement.instruction.immediate = immediate;
    return result;
}

} // namespace emulator

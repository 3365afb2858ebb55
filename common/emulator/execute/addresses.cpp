#include "emulator/execute/addresses.hpp"

#include "emulator/machine/fault.hpp"
#include "emulator/machine/refused_access.hpp"
#include "emulator/ptx/decoder.hpp"

namespace emulator {

namespace {

using ptx::Space;

[[noreturn]] void refuse(Failure failure, int lane, const Instruction& instruction, AccessKind kind,
                         Space space, const Addresses& addresses) {
    throw Fault{.failure = failure,
                .lane = lane,
                .instruction = &instruction,
                .access = LaneAccess{space, kind, instruction.bytes, addresses[lane]}};
}

[[noreturn]] void misaligned(const Instruction& instruction, LaneMask active, AccessKind kind, Space space,
                             const Addresses& addresses) {
    int lane = std::countr_zero(active);
    for_each_lane(active, [&](int l) {
        if (addresses[l] % instruction.bytes != 0 && addresses[lane] % instruction.bytes == 0) lane = l;
    });
    refuse(Failure::misaligned_address, lane, instruction, kind, space, addresses);
}

void check_alignment(const Instruction& instruction, LaneMask active, AccessKind kind, Space space,
                     const Addresses& addresses) {
    std::uint64_t bits = 0;
    for (int lane = 0; lane < warp_size; ++lane) bits |= addresses[lane];
    if ((bits & (instruction.bytes - 1u)) != 0) misaligned(instruction, active, kind, space, addresses);
}

/// True when every lane's bytes lie in the `size` bytes from `first` on.
bool all_inside(const Addresses& addresses, std::uint64_t first, std::uint64_t size, std::uint32_t bytes) {
    if (size < bytes) return false;
    const std::uint64_t last = size - bytes;
    std::uint64_t outside = 0;
    for (int lane = 0; lane < warp_size; ++lane) outside |= addresses[lane] - first > last ? 1u : 0u;
    return outside == 0;
}

void tell_observers(const Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
                    Space space, const Addresses& addresses) {
    const Access access{space, kind, instruction.bytes, active, addresses.lane.data()};
    for (Observer* const observer : warp.block().observers()) observer->accessed(warp, instruction, access);
}

void check_global(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind, Space space,
                  const Addresses& addresses) {
    Block& block = warp.block();
    const Allocation* const likely = block.last_allocation();
    if (likely && all_inside(addresses, likely->address, likely->bytes, instruction.bytes) &&
        (kind == AccessKind::load || likely->writable))
        return;
    for_each_lane(active, [&](int lane) {
        const Allocation* const allocation = block.allocation(addresses[lane], instruction.bytes);
        if (!allocation || (kind != AccessKind::load && !allocation->writable))
            refuse(Failure::illegal_address, lane, instruction, kind, space, addresses);
    });
}

/// For memory that is one piece with offsets from 0: shared, local and parameters.
void check_piece(const Instruction& instruction, LaneMask active, AccessKind kind, Space space,
                 const Addresses& addresses, std::uint64_t size) {
    if (all_inside(addresses, 0, size, instruction.bytes)) return;
    for_each_lane(active, [&](int lane) {
        if (addresses[lane] <= size && instruction.bytes <= size - addresses[lane]) return;
        refuse(Failure::illegal_address, lane, instruction, kind, space, addresses);
    });
}

void locate_in(Space space, Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
               Addresses& addresses) {
    check_alignment(instruction, active, kind, space, addresses);
    switch (space) {
    case Space::shared: {
        const auto shared = warp.block().shared();
        check_piece(instruction, active, kind, space, addresses, shared.size());
        tell_observers(warp, instruction, active, kind, space, addresses);
        const auto base = reinterpret_cast<std::uintptr_t>(shared.data());
        for (int lane = 0; lane < warp_size; ++lane) addresses[lane] += base;
        return;
    }
    case Space::local:
        check_piece(instruction, active, kind, space, addresses, warp.local_bytes());
        tell_observers(warp, instruction, active, kind, space, addresses);
        for (int lane = 0; lane < warp_size; ++lane)
            addresses[lane] += reinterpret_cast<std::uintptr_t>(warp.local(lane));
        return;
    case Space::param: {
        const auto parameters = warp.block().launch().parameters;
        check_piece(instruction, active, kind, space, addresses, parameters.size());
        if (kind != AccessKind::load)
            refuse(Failure::illegal_address, std::countr_zero(active), instruction, kind, space, addresses);
        const auto base = reinterpret_cast<std::uintptr_t>(parameters.data());
        for (int lane = 0; lane < warp_size; ++lane) addresses[lane] += base;
        return;
    }
    default:
        check_global(warp, instruction, active, kind, space, addresses);
        tell_observers(warp, instruction, active, kind, space, addresses);
    }
}

Space space_of_window(std::uint64_t window) {
    switch (window) {
    case ptx::shared_window: return Space::shared;
    case ptx::local_window: return Space::local;
    case ptx::param_window: return Space::param;
    default: return Space::global;
    }
}

/// Leaves out the lanes whose fault an observer takes over. Returns the others.
LaneMask locate_or_leave_out(Space space, Warp& warp, const Instruction& instruction, LaneMask active,
                             AccessKind kind, Addresses& addresses) {
    while (active != 0) {
        try {
            locate_in(space, warp, instruction, active, kind, addresses);
            return active;
        } catch (Fault& fault) {
            const LaneMask lane = LaneMask{1} << fault.lane;
            bool goes_on = false;
            for (Observer* const observer : warp.block().observers())
                goes_on = goes_on || observer->takes_over(warp, fault, lane);
            if (!goes_on) {
                fault.message = explain(warp.block(), fault.failure, *fault.access).message;
                throw;
            }
            active &= ~lane;
        }
        // Lanes that are not active repeat the first one that is.
        for (int lane = 0; active != 0 && lane < warp_size; ++lane)
            if ((active >> lane & 1) == 0) addresses[lane] = addresses[std::countr_zero(active)];
    }
    return 0;
}

/// Lanes may point into different spaces: each group of the same one is a request of its own.
LaneMask locate_generic(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
                        Addresses& addresses) {
    LaneMask located = 0;
    for (LaneMask left = active; left != 0;) {
        const std::uint64_t window = addresses[std::countr_zero(left)] & ptx::window_mask;
        LaneMask group = 0;
        for (int lane = 0; lane < warp_size; ++lane)
            group |= LaneMask{(addresses[lane] & ptx::window_mask) == window} << lane;
        group &= left;
        left &= ~group;
        const Space space = space_of_window(window);
        const std::uint64_t base = space == Space::global ? 0 : window;
        Addresses part;
        const std::uint64_t first = addresses[std::countr_zero(group)];
        for (int lane = 0; lane < warp_size; ++lane)
            part[lane] = ((group >> lane & 1) != 0 ? addresses[lane] : first) - base;
        const LaneMask found = locate_or_leave_out(space, warp, instruction, group, kind, part);
        located |= found;
        if (group == active) {
            addresses = part;
            break;
        }
        for_each_lane(found, [&](int lane) { addresses[lane] = part[lane]; });
    }
    return located;
}

} // namespace

LaneMask locate(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
                Addresses& addresses) {
    if (instruction.space == Space::generic)
        return locate_generic(warp, instruction, active, kind, addresses);
    return locate_or_leave_out(instruction.space, warp, instruction, active, kind, addresses);
}

} // namespace emulator

#include "emulator/execute/addresses.hpp"

#include "emulator/machine/fault.hpp"
#include "emulator/ptx/decoder.hpp"

#include <cstdio>

namespace emulator {

namespace {

using ptx::Space;

std::string hexadecimal(std::uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

const char* name_of(AccessKind kind) {
    switch (kind) {
    case AccessKind::load: return "load from";
    case AccessKind::store: return "store to";
    default: return "atomic on";
    }
}

const char* name_of(Space space) {
    switch (space) {
    case Space::shared: return "shared memory";
    case Space::local: return "local memory";
    case Space::param: return "the kernel's parameters";
    case Space::constant: return "constant memory";
    default: return "global memory";
    }
}

std::string describe(const Instruction& instruction, AccessKind kind, Space space, std::uint64_t address) {
    return std::to_string(instruction.bytes) + "-byte " + name_of(kind) + " " + name_of(space) + " at " +
           hexadecimal(address);
}

/// How the address lies to the allocation next to it.
std::string neighbourhood(const GlobalMemory& memory, std::uint64_t address, std::uint32_t bytes) {
    const Allocation* const nearest = memory.nearest(address);
    if (!nearest) return "the program has allocated no device memory";
    const std::string what = "the " + std::to_string(nearest->bytes) + " bytes at " +
                             hexadecimal(nearest->address) + " (" + nearest->origin + ")";
    constexpr std::uint64_t far_away = 1ull << 32;
    if (address >= nearest->end()) {
        if (address - nearest->end() > far_away)
            return "no device memory is near it: is it a host pointer, or one that was never set?";
        return std::to_string(address - nearest->end()) + " bytes after the end of " + what;
    }
    if (address >= nearest->address)
        return "its last " + std::to_string(address + bytes - nearest->end()) +
               " bytes lie after the end of " + what;
    if (nearest->address - address > far_away)
        return "no device memory is near it: is it a host pointer, or one that was never set?";
    return std::to_string(nearest->address - address) + " bytes before " + what;
}

[[noreturn]] void misaligned(const Instruction& instruction, LaneMask active, AccessKind kind, Space space,
                             const Addresses& addresses) {
    int lane = std::countr_zero(active);
    for_each_lane(active, [&](int l) {
        if (addresses[l] % instruction.bytes != 0 && addresses[lane] % instruction.bytes == 0) lane = l;
    });
    throw Fault{Failure::misaligned_address, lane, &instruction,
                "misaligned " + describe(instruction, kind, space, addresses[lane]) +
                    ": the address must be a multiple of " + std::to_string(instruction.bytes)};
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
        if (!allocation)
            throw Fault{Failure::illegal_address, lane, &instruction,
                        "illegal " + describe(instruction, kind, space, addresses[lane]) + ": " +
                            neighbourhood(block.launch().memory, addresses[lane], instruction.bytes)};
        if (kind != AccessKind::load && !allocation->writable)
            throw Fault{Failure::illegal_address, lane, &instruction,
                        "illegal " + describe(instruction, kind, space, addresses[lane]) + ": " +
                            allocation->origin + " is constant"};
    });
}

/// For memory that is one piece with offsets from 0: shared, local and parameters.
void check_piece(const Instruction& instruction, LaneMask active, AccessKind kind, Space space,
                 const Addresses& addresses, std::uint64_t size, const char* whose) {
    if (all_inside(addresses, 0, size, instruction.bytes)) return;
    for_each_lane(active, [&](int lane) {
        if (addresses[lane] <= size && instruction.bytes <= size - addresses[lane]) return;
        throw Fault{Failure::illegal_address, lane, &instruction,
                    "illegal " + describe(instruction, kind, space, addresses[lane]) + ": " + whose +
                        " has " + std::to_string(size) + " bytes"};
    });
}

void locate_in(Space space, Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
               Addresses& addresses) {
    check_alignment(instruction, active, kind, space, addresses);
    switch (space) {
    case Space::shared: {
        const auto shared = warp.block().shared();
        check_piece(instruction, active, kind, space, addresses, shared.size(), "this block");
        tell_observers(warp, instruction, active, kind, space, addresses);
        const auto base = reinterpret_cast<std::uintptr_t>(shared.data());
        for (int lane = 0; lane < warp_size; ++lane) addresses[lane] += base;
        return;
    }
    case Space::local:
        check_piece(instruction, active, kind, space, addresses, warp.local_bytes(), "each thread");
        tell_observers(warp, instruction, active, kind, space, addresses);
        for (int lane = 0; lane < warp_size; ++lane)
            addresses[lane] += reinterpret_cast<std::uintptr_t>(warp.local(lane));
        return;
    case Space::param: {
        const auto parameters = warp.block().launch().parameters;
        check_piece(instruction, active, kind, space, addresses, parameters.size(), "the kernel");
        if (kind != AccessKind::load)
            throw Fault{Failure::illegal_address, std::countr_zero(active), &instruction,
                        "illegal store to the kernel's parameters"};
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

/// Lanes may point into different spaces: each group of the same one is a request of its own.
void locate_generic(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
                    Addresses& addresses) {
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
        locate_in(space, warp, instruction, group, kind, part);
        if (group == active) {
            addresses = part;
            return;
        }
        for_each_lane(group, [&](int lane) { addresses[lane] = part[lane]; });
    }
}

} // namespace

void locate(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
            Addresses& addresses) {
    if (instruction.space == Space::generic)
        locate_generic(warp, instruction, active, kind, addresses);
    else
        locate_in(instruction.space, warp, instruction, active, kind, addresses);
}

} // namespace emulator

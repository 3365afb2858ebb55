/// \file
/// Where the lanes of a memory instruction go: effective addresses, checked, seen by the observers, and found
/// in this process.
#pragma once

#include "emulator/machine/block.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/machine/warp.hpp"

#include <array>
#include <cstdint>

namespace emulator {

/// One address a lane.
struct alignas(64) Addresses {
    std::array<std::uint64_t, warp_size> lane;

    std::uint64_t& operator[](int i) { return lane[static_cast<std::size_t>(i)]; }
    std::uint64_t operator[](int i) const { return lane[static_cast<std::size_t>(i)]; }
};

/// The addresses that the instruction's first source and displacement name. `Base` is the cell of the source:
/// 4 or 8 bytes. Inactive lanes repeat the first active lane's address.
template <class Base>
Addresses effective_addresses(const Warp& warp, const Instruction& instruction, LaneMask active) {
    Addresses result;
    const Base* const base = warp.cells<Base>(instruction.sources[0]);
    const std::uint64_t displacement = instruction.immediate;
    // 32-bit addresses (of shared memory) wrap at 32 bits.
    for (int lane = 0; lane < warp_size; ++lane)
        result[lane] = static_cast<Base>(base[lane] + static_cast<Base>(displacement));
    if (active != all_lanes) {
        const std::uint64_t first = result[std::countr_zero(active)];
        for (int lane = 0; lane < warp_size; ++lane)
            result[lane] = (active >> lane & 1) != 0 ? result[lane] : first;
    }
    return result;
}

/// Where lanes find their memory in this process, if they go in even steps.
struct StridedPlaces {
    std::byte* first = nullptr; ///< of the first active lane; null: they don't go in even steps, or not all
                                ///< of them are allowed to
    std::int64_t stride = 0;    ///< bytes
};

/// The short way for most loads and stores: when the active lanes go in even steps, and all of them are
/// allowed to, does what `locate` does. Else it has done nothing. `Base`: uint32_t or uint64_t.
template <class Base>
StridedPlaces locate_strided(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind);

/// Checks every active lane's access of `instruction.bytes` bytes, tells the observers, and turns the
/// addresses into pointers to this process's memory. Returns the lanes that have one: all that are active,
/// but for those whose fault an observer takes over. \throws Fault for an address outside, misaligned, or in
/// memory that cannot be written.
LaneMask locate(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
                Addresses& addresses);

} // namespace emulator

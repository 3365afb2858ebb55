/// Lanes of a warp, and how their registers are stored.
///
/// A PTX register holds one value per lane, stored as a row of 32 cells. So an instruction is one loop over
/// lanes, which the compiler vectorizes. A cell has 4 bytes for types of up to 32 bits and 8 bytes for 64-bit
/// types. If the value is narrower than its cell, only the low bits count. A predicate register is one 32-bit
/// mask.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace emulator {

inline constexpr int warp_size = 32;

/// One bit per lane; lane 0 is the lowest.
using LaneMask = std::uint32_t;
inline constexpr LaneMask all_lanes = 0xFFFF'FFFF;

template <class T> using Cell = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <std::size_t bytes>
using UnsignedOf =
    std::conditional_t<bytes == 1, std::uint8_t,
                       std::conditional_t<bytes == 2, std::uint16_t,
                                          std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

template <class T> constexpr T from_cell(Cell<T> cell) {
    return std::bit_cast<T>(static_cast<UnsignedOf<sizeof(T)>>(cell));
}

template <class T> constexpr Cell<T> to_cell(T value) { return std::bit_cast<UnsignedOf<sizeof(T)>>(value); }

/// Bit `lane` of the result is `holds(lane)`.
template <class Condition> LaneMask lanes_where(Condition holds) {
    LaneMask result = 0;
    for (int lane = 0; lane < warp_size; ++lane) result |= LaneMask{holds(lane)} << lane;
    return result;
}

/// Calls `visit(lane)` for each lane in `mask`, lowest first.
template <class Visit> void for_each_lane(LaneMask mask, Visit visit) {
    for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

} // namespace emulator

/// The cells of a shadow that the lanes of a warp access, and in which pattern.
#pragma once

#include "emulator/machine/observer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace emulator {

/// The cells that lanes of a warp access at once.
struct Cells {
    enum class Shape {
        row,       ///< each lane has one, right after that of the lane before it; some lanes may be left out
        run,       ///< each lane has several, and the next lane the next ones
        spaced,    ///< each lane has one, at an equal distance from that of the next lane
        one_place, ///< all lanes access the same
        scattered
    };
    Shape shape = Shape::scattered;
    std::size_t first = 0;                 ///< of the first lane
    std::size_t each = 1;                  ///< of one lane
    std::ptrdiff_t distance = 0;           ///< of a row or spaced: from one lane's cell to the next lane's
    std::size_t first_line = 0, lines = 1; ///< all lie in these
    LaneMask active = 0;
    const LaneAddresses& addresses;
    int shift = 0; ///< of an address to its cell

    static constexpr int line_shift = 5; ///< 32 cells are a line
    static constexpr std::size_t line_cells = std::size_t{1} << line_shift;

    std::size_t of_lane(int lane) const { return addresses.data()[lane] >> shift; }

    /// Lanes from the first to the last active one.
    int first_lane() const { return std::countr_zero(active); }
    int lane_span() const { return warp_size - std::countl_zero(active) - first_lane(); }

    /// Calls `visit(cell, lanes)` for each cell, with the lanes that access it.
    template <class Visit> void for_each(Visit visit) const {
        if (shape == Shape::one_place) {
            for (std::size_t k = 0; k < each; ++k) visit(first + k, active);
        } else if (each == 1) {
            for_each_lane(active, [&](int lane) { visit(of_lane(lane), LaneMask{1} << lane); });
        } else {
            for_each_lane(active, [&](int lane) {
                for (std::size_t k = 0; k < each; ++k) visit(of_lane(lane) + k, LaneMask{1} << lane);
            });
        }
    }

    bool is_one() const { return each == 1 && (active & (active - 1)) == 0; }

    /// They are whole lines, and each lane's cells lie in one line, or there is only one lane.
    bool fill_lines() const {
        return first % line_cells == 0 && (shape == Shape::row || shape == Shape::run) &&
               each * static_cast<std::size_t>(lane_span()) % line_cells == 0 && !has_gaps(active) &&
               (lane_span() == 1 || (std::has_single_bit(each) && each <= line_cells));
    }

    bool is_regular() const { return shape == Shape::row || shape == Shape::spaced; }

    /// Calls `visit(line)` for all lines that hold one of them, and maybe for others in between.
    template <class Visit> void for_each_line(Visit visit) const {
        if (lines <= 2 * warp_size)
            for (std::size_t k = 0; k < lines; ++k) visit(first_line + k);
        else
            for_each([&](std::size_t cell, LaneMask) { visit(cell >> line_shift); });
    }

    /// Of a row or spaced: calls `visit(cell, lane)` for each of them.
    template <class Visit> void for_each_spaced(Visit visit) const {
        const int from = first_lane(), span = lane_span();
        if (has_gaps(active))
            for_each_lane(active, [&](int lane) {
                visit(first + static_cast<std::size_t>((lane - from) * distance), LaneMask{1} << lane);
            });
        else
            for (int k = 0; k < span; ++k)
                visit(first + static_cast<std::size_t>(k * distance), LaneMask{1} << (from + k));
    }

    // ---- of a row ----

    /// Calls `visit(k, lane, is_active)` for 32 cells from the first one on; `is_active` is all ones or 0.
    /// Loops with a fixed count and no branches are fast. The memory has as many cells past its last one.
    template <class Visit> void for_each_in_row(Visit visit) const {
        const LaneMask* const lanes = lane_bits.data() + first_lane();
        const LaneMask from_first = active >> first_lane();
        for (std::size_t k = 0; k < warp_size; ++k) visit(k, lanes[k], 0 - (from_first >> k & 1));
    }

    // ---- of a run ----

    std::size_t count() const { return each * static_cast<std::size_t>(std::popcount(active)); }

    /// Calls `visit(cell, lane)` for each of them.
    template <class Visit> void for_each_in_run(Visit visit) const {
        std::size_t cell = first;
        for_each_lane(active, [&](int lane) {
            for (std::size_t k = 0; k < each; ++k) visit(cell++, LaneMask{1} << lane);
        });
    }

    /// Lane i's bit; 0 past the last lane.
    static constexpr auto lane_bits = [] {
        std::array<LaneMask, 2 * warp_size> result{};
        for (std::size_t i = 0; i < warp_size; ++i) result[i] = LaneMask{1} << i;
        return result;
    }();
};

/// Each active lane's address lies `distance` bytes past that of the lane before it.
inline bool are_spaced(const std::uint64_t* addresses, std::uint64_t distance, LaneMask active) {
    std::uint64_t place = addresses[0] - distance * static_cast<unsigned int>(std::countr_zero(active));
    std::uint64_t difference = 0;
    for (int lane = 0; lane < warp_size; ++lane, place += distance)
        difference |= (active >> lane & 1) != 0 ? addresses[lane] ^ place : 0;
    return difference == 0;
}

/// The distance from one lane's address to the next lane's, if all are equal. For a single lane, `bytes`.
inline std::optional<std::int64_t> stride_of(const LaneAddresses& addresses, std::uint32_t bytes,
                                             LaneMask active) {
    if (std::has_single_bit(active)) return bytes;
    if (addresses.are_strided()) return addresses.stride();
    const int from_lane = std::countr_zero(active);
    const bool has_next = (active >> (from_lane + 1) & 1) != 0;
    const std::uint64_t distance = has_next ? addresses[from_lane + 1] - addresses[0] : bytes;
    if (!are_spaced(addresses.data(), distance, active)) return std::nullopt;
    return static_cast<std::int64_t>(distance);
}

inline Cells in_lines_of(Cells cells, std::size_t first, std::size_t last) {
    cells.first_line = first >> Cells::line_shift;
    cells.lines = (last >> Cells::line_shift) - cells.first_line + 1;
    return cells;
}

/// `shift`: a cell stands for 2^shift bytes.
inline Cells cells_of(const LaneAddresses& addresses, std::uint32_t bytes, LaneMask active, int shift) {
    const std::uint64_t first = addresses[0]; // inactive lanes repeat the first active one's
    Cells cells{.first = static_cast<std::size_t>(first >> shift),
                .each = bytes >> shift,
                .active = active,
                .addresses = addresses,
                .shift = shift};
    if (const auto stride = stride_of(addresses, bytes, active); stride && *stride != 0) {
        if (cells.each > 1 && *stride == bytes && !has_gaps(active)) {
            cells.shape = Cells::Shape::run;
            return in_lines_of(cells, cells.first, cells.first + cells.count() - 1);
        }
        if (cells.each == 1) {
            cells.shape = *stride == bytes ? Cells::Shape::row : Cells::Shape::spaced;
            cells.distance = *stride >> shift;
            const std::size_t last =
                cells.first + static_cast<std::size_t>((cells.lane_span() - 1) * cells.distance);
            return in_lines_of(cells, std::min(cells.first, last), std::max(cells.first, last));
        }
    }
    const std::uint64_t* const each_address = addresses.data();
    std::uint64_t difference = 0;
    for (int lane = 1; lane < warp_size; ++lane) difference |= each_address[lane] ^ each_address[0];
    if (difference == 0) cells.shape = Cells::Shape::one_place;
    // The smallest power of two of lines that holds all, aligned to itself.
    cells.lines = std::size_t{1} << std::bit_width(difference >> shift >> Cells::line_shift);
    cells.first_line = cells.first >> Cells::line_shift & ~(cells.lines - 1);
    return cells;
}

} // namespace emulator

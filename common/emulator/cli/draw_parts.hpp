/// What pictures of different kinds have in common.
#pragma once

#include "emulator/cli/picture.hpp"
#include "emulator/cli/svg.hpp"
#include "emulator/observe/access_trace.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace emulate {

/// A picture's title and subtitle.
struct Heading {
    std::string title;              ///< the kernel and the kind of picture
    std::string result;             ///< the numbers, in one sentence
    std::string code;               ///< place and text of the line; empty: several
    std::vector<std::string> facts; ///< sentences
};

/// Returns the y below it.
double draw_heading(Svg& svg, const Heading& heading);

/// "kernels.cuh:23", "PTX line 57"
std::string name_of(const emulator::TracedPlace& place);

/// The place and its text: the source's line if it is known, else the PTX statement. With `what` the
/// instruction does there, if that is not empty: "kernels.cuh:23 (shared store): tile[i] = 0;".
std::string code_of(const emulator::TracedPlace& place, const SourceOf& source_of,
                    std::string_view what = "");

/// "32 wavefronts", "1 wavefront"
std::string count_of(std::uint64_t count, std::string_view one);

/// "8 wavefronts instead of 1: 7 bank conflicts"
std::string conflicts_of(const emulator::TracedRequest& request);

bool is_atomic(emulator::AccessKind kind);

/// "Warp 0 of block (0,0,0), its 3rd time here: 16 of 32 lanes load 4 bytes each."
std::string access_label(const emulator::AccessTrace& trace, const emulator::TracedAccess& access);

/// The 32 lanes of a warp below each other.
struct LaneColumn {
    static constexpr double row_height = 22, right = Svg::margin + 58;
    double top;

    double middle(int lane) const { return top + row_height * (lane + 0.5); }
    double bottom() const { return top + row_height * emulator::warp_size; }

    /// Numbers all lanes; those that are not active are grayed out.
    void draw(Svg& svg, emulator::LaneMask active) const;
};

} // namespace emulate

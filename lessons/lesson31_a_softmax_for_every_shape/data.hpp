/// \file
/// How far softmax() and softmax_in_registers may be from the softmax in double.
#pragma once

#include <algorithm>
#include <cstddef>

/// Relative to the exact softmax. The page derives it. \param range the largest element minus the smallest finite
/// one; exp(-104) is no float: elements so far apart add nothing
inline double softmax_bound(std::size_t columns, double range) {
    constexpr double u = 0x1p-24; // half a unit in the last place of 1
    // Beyond 262,144 columns a thread goes through a piece of 8,192 after the other, at worst all of them.
    const double pieces = columns <= 262'144 ? 1 : static_cast<double>(columns / 8192 + 1);
    return (80 + 40 * (pieces - 1) + 10 * std::min(range, 104.0)) * u;
}

/// \file
/// How wrong a sum of lesson 23 may be: a bound for each order of the additions.
///
/// Adding rounds by at most u times the sum, u = 2^-24. An element that passes h additions is multiplied by
/// at most (1 + u)^h. So the error is at most ((1 + u)^h - 1) times the sum of the absolute values: about h
/// u. A sum that is subnormal is exact.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "data.hpp"
#include "harness/reduction.hpp"

inline constexpr double float_rounding = 0x1p-24, double_rounding = 0x1p-53;

/// (1 + u)^h - 1
inline double growth(double h, double u = float_rounding) { return std::expm1(h * std::log1p(u)); }

/// Additions that round from an element to its block's sum. The first one, to 0, is exact.
inline double depth_in_block(std::size_t n, unsigned int block, unsigned int grid) {
    const std::size_t per_thread = harness::ceil_div(n, std::size_t{grid} * block);
    return static_cast<double>(per_thread - 1) + std::log2(block);
}

/// The same to the sum of all blocks, in launches with these grids.
inline double depth(std::size_t n, unsigned int block, const std::vector<unsigned int>& grids) {
    double additions = 0;
    for (const unsigned int grid : grids) {
        additions += depth_in_block(n, block, grid);
        n = grid;
    }
    return additions;
}

/// The bounds. h: additions in turn. sum: the exact one. magnitude: the sum of the absolute values.
using Bound = double (*)(double h, double sum, double magnitude);

inline double plain_bound(double h, double magnitude) { return growth(h) * magnitude; }
inline double tree_bound(double h, double, double magnitude) { return plain_bound(h, magnitude); }

/// An atomicAdd of floats in global memory also makes subnormal numbers 0: the block's sum, or the result.
inline double atomic_bound(double h, unsigned int blocks, double magnitude) {
    return plain_bound(h, magnitude) + (1 + growth(h)) * blocks * 2 * 0x1p-126;
}

/// The roundings together are at most growth(h) x magnitude. They are added up with an error, too, in two
/// additions for each of the sum, and the last addition rounds.
inline double compensated_bound(double h, double sum, double magnitude) {
    const double lost = growth(2 * h) * growth(h) * magnitude;
    return float_rounding * std::abs(sum) + (1 + float_rounding) * lost;
}

/// The last step rounds to float, subnormal numbers by at most 2^-150.
inline double double_bound(double h, double sum, double magnitude) {
    const double before = growth(h, double_rounding) * magnitude;
    return float_rounding * std::abs(sum) + (1 + float_rounding) * before + 0x1p-150;
}

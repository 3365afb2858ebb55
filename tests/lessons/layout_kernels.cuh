/// What the tests of lessons 16 to 21 share: tiles in shared memory. Kernels of squares and those of
/// rectangles have the same names: each are in a namespace.
#pragma once

#include <gtest/gtest.h>

#include "harness/check.hpp"
#include "harness/tile.hpp"

namespace layout_kernels {

using namespace harness;
using harness::by_columns, harness::by_rows;

/// A kernel, and the order in which it stores and loads.
struct Unpadded {
    const char* name;
    TileKernel pattern;
    void (*kernel)(int*);
};
struct Padded {
    const char* name;
    TileKernel pattern;
    void (*kernel)(int*, unsigned int);
};

constexpr TileKernel by_rows_only{.store = by_rows, .load = by_rows};
constexpr TileKernel by_columns_only{.store = by_columns, .load = by_columns};
constexpr TileKernel transposing{.store = by_rows, .load = by_columns};
constexpr TileKernel transposing_dynamic{.store = by_rows, .load = by_columns, .dynamic = true};

void expect_to_be_right_in_every_square(const Unpadded& kernel);
void expect_to_be_right_in_every_rectangle(const Unpadded& kernel);
/// With every padding.
void expect_to_be_right_in_every_square(const Padded& kernel);
void expect_to_be_right_in_every_rectangle(const Padded& kernel);

template <class Kernel> std::size_t static_bytes(Kernel kernel) {
    cudaFuncAttributes attributes;
    HARNESS_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.sharedSizeBytes;
}

} // namespace layout_kernels

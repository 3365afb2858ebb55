/// \file
/// What the tests of lessons 16 to 21 share: tiles in shared memory. Kernels of squares and those of
/// rectangles have the same names: each are in a namespace.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "harness/check.hpp"
#include "harness/tile.hpp"

namespace layout_kernels {

using namespace harness;
using enum harness::Order;

/// A kernel, and the order in which it stores and loads.
struct Unpadded {
    const char* name;
    TileKernel pattern;
    void (*kernel)(int*);
    friend void PrintTo(const Unpadded& kernel, std::ostream* out) { *out << kernel.name; }
};
struct Padded {
    const char* name;
    TileKernel pattern;
    void (*kernel)(int*, unsigned int);
    friend void PrintTo(const Padded& kernel, std::ostream* out) { *out << kernel.name; }
};

constexpr TileKernel by_rows_only{.store = by_rows, .load = by_rows};
constexpr TileKernel by_columns_only{.store = by_columns, .load = by_columns};
constexpr TileKernel transposing{.store = by_rows, .load = by_columns};
constexpr TileKernel transposing_dynamic{.store = by_rows, .load = by_columns, .dynamic = true};

class UnpaddedSquare : public testing::TestWithParam<Unpadded> {};
class UnpaddedRectangle : public testing::TestWithParam<Unpadded> {};
class PaddedSquare : public testing::TestWithParam<Padded> {};
class PaddedRectangle : public testing::TestWithParam<Padded> {};

constexpr auto kernel_name = [](const auto& info) { return std::string(info.param.name); };

template <class Kernel> std::size_t static_bytes(Kernel kernel) {
    cudaFuncAttributes attributes;
    HARNESS_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.sharedSizeBytes;
}

} // namespace layout_kernels

// The kernels of lessons 16 to 21, in tiles of every kind: what each writes, element by element, and that it
// writes nothing else. Where on the emulator each thread goes in its tile: layout_words_test.cpp.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "device_main.hpp"
#include "harness/check.hpp"
#include "harness/device_buffer.hpp"
#include "harness/tile.hpp"
#include "harness/verification.hpp"

// Those of squares and those of rectangles have the same names.
namespace square {
#include "../../lessons/lesson16_square_tile/kernels.cuh"
#include "../../lessons/lesson17_square_tile_dynamic/kernels.cuh"
#include "../../lessons/lesson18_square_tile_padded/kernels.cuh"
} // namespace square
namespace rectangle {
#include "../../lessons/lesson19_rectangular_tile/kernels.cuh"
#include "../../lessons/lesson20_rectangular_tile_dynamic/kernels.cuh"
#include "../../lessons/lesson21_rectangular_tile_padded/kernels.cuh"
} // namespace rectangle

namespace layout_kernels_test {

using namespace harness;
using enum harness::Order;

/// A kernel, and the order in which it stores and loads.
struct Unpadded {
    const char* name;
    TileKernel pattern;
    void (*of_squares)(int*);
    void (*of_rectangles)(int*);
    friend void PrintTo(const Unpadded& kernel, std::ostream* out) { *out << kernel.name; }
};
struct Padded {
    const char* name;
    TileKernel pattern;
    void (*of_squares)(int*, unsigned int);
    void (*of_rectangles)(int*, unsigned int);
    friend void PrintTo(const Padded& kernel, std::ostream* out) { *out << kernel.name; }
};

constexpr TileKernel by_rows_only{.store = by_rows, .load = by_rows};
constexpr TileKernel by_columns_only{.store = by_columns, .load = by_columns};
constexpr TileKernel transposing{.store = by_rows, .load = by_columns};
constexpr TileKernel transposing_dynamic{.store = by_rows, .load = by_columns, .dynamic = true};

const Unpadded unpadded_kernels[] = {
    {"setRowReadRow", by_rows_only, square::setRowReadRow, rectangle::setRowReadRow},
    {"setColReadCol", by_columns_only, square::setColReadCol, rectangle::setColReadCol},
    {"setRowReadCol", transposing, square::setRowReadCol, rectangle::setRowReadCol},
    {"setRowReadColDyn", transposing_dynamic, square::setRowReadColDyn, rectangle::setRowReadColDyn},
};
const Padded padded_kernels[] = {
    {"setRowReadColPad", transposing, square::setRowReadColPad, rectangle::setRowReadColPad},
    {"setRowReadColDynPad", transposing_dynamic, square::setRowReadColDynPad, rectangle::setRowReadColDynPad},
};

/// Powers of two, odd numbers, one row, one column, whole warps and the threads beyond them.
std::vector<Tile> rectangles() {
    std::vector<Tile> tiles{{31, 33}, {33, 31}, {31, 1},  {1, 31},   {33, 1},   {1, 33},
                            {17, 60}, {60, 17}, {7, 5},   {1023, 1}, {1, 1023}, {3, 341},
                            {341, 3}, {48, 21}, {24, 42}, {255, 4},  {6, 170},  {100, 10}};
    for (unsigned int width = 1; width <= 1024; width *= 2)
        for (unsigned int height = 1; width * height <= 1024; height *= 2) tiles.push_back({width, height});
    return tiles;
}

std::vector<Tile> squares() {
    std::vector<Tile> tiles;
    for (unsigned int width = 1; width <= 32; ++width) tiles.push_back({width, width});
    return tiles;
}

/// Runs the kernel in one block, with `arguments` after its output.
template <class... Arguments>
testing::AssertionResult is_right(void (*kernel)(int*, Arguments...), const TileKernel& pattern,
                                  const Tile& tile, Arguments... arguments) {
    constexpr unsigned int beyond = 64;
    DeviceBuffer<int> out(tile.threads() + beyond);
    out.poison();
    const std::vector<int> poison = out.read(tile.threads(), beyond);
    std::size_t shared_bytes = 0;
    if (pattern.dynamic) {
        shared_bytes = tile.words() * sizeof(int);
        HARNESS_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shared_bytes)));
    }
    kernel<<<1, dim3(tile.width, tile.height), shared_bytes>>>(out.data(), arguments...);
    check_launch("the kernel");
    synchronize("the kernel");
    const Verification result = compare_elements(expected_output(tile, pattern), out.read(0, tile.threads()));
    const testing::AssertionResult failure = testing::AssertionFailure()
                                             << tile.width << " x " << tile.height << ", padding "
                                             << tile.padding << ": ";
    if (!result.passed) return testing::AssertionResult(failure) << result.wrong_places[0];
    if (out.read(tile.threads(), beyond) != poison)
        return testing::AssertionResult(failure) << "writes beyond out";
    return testing::AssertionSuccess();
}

constexpr auto kernel_name = [](const auto& info) { return std::string(info.param.name); };

class UnpaddedTile : public testing::TestWithParam<Unpadded> {};
INSTANTIATE_TEST_SUITE_P(Lessons, UnpaddedTile, testing::ValuesIn(unpadded_kernels), kernel_name);

TEST_P(UnpaddedTile, is_right_in_every_square) {
    for (const Tile& tile : squares()) EXPECT_TRUE(is_right(GetParam().of_squares, GetParam().pattern, tile));
}

TEST_P(UnpaddedTile, is_right_in_rectangles_of_every_kind) {
    for (const Tile& tile : rectangles())
        EXPECT_TRUE(is_right(GetParam().of_rectangles, GetParam().pattern, tile));
}

class PaddedTile : public testing::TestWithParam<Padded> {};
INSTANTIATE_TEST_SUITE_P(Lessons, PaddedTile, testing::ValuesIn(padded_kernels), kernel_name);

TEST_P(PaddedTile, is_right_in_every_square_with_every_padding) {
    for (Tile tile : squares())
        for (tile.padding = 0; tile.padding <= most_padding; ++tile.padding)
            EXPECT_TRUE(is_right(GetParam().of_squares, GetParam().pattern, tile, tile.padding));
}

TEST_P(PaddedTile, is_right_in_rectangles_of_every_kind_with_every_padding) {
    for (Tile tile : rectangles()) {
        for (tile.padding = 0; tile.padding <= most_padding; ++tile.padding) {
            if (!GetParam().pattern.dynamic && tile.words() > rectangle::static_ints) continue;
            EXPECT_TRUE(is_right(GetParam().of_rectangles, GetParam().pattern, tile, tile.padding));
        }
    }
}

template <class Kernel> std::size_t static_bytes(Kernel kernel) {
    cudaFuncAttributes attributes;
    HARNESS_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.sharedSizeBytes;
}

TEST(StaticTile, costs_the_kernels_that_name_it) {
    // Two kernels share the name of an array at file scope: each has the whole of it, and no other kernel
    // any.
    EXPECT_EQ(static_bytes(square::setRowReadRow), 1024 * sizeof(int));
    EXPECT_EQ(static_bytes(square::setColReadCol), 1024 * sizeof(int));
    EXPECT_EQ(static_bytes(square::setRowReadCol), 1024 * sizeof(int));
    EXPECT_EQ(static_bytes(square::setRowReadColDyn), 0u);
    EXPECT_EQ(static_bytes(square::setRowReadColPad), 32 * 65 * sizeof(int));
    EXPECT_EQ(static_bytes(rectangle::setRowReadColPad), 48 * 1024u);
    EXPECT_EQ(static_bytes(rectangle::setRowReadColDynPad), 0u);
}

} // namespace layout_kernels_test

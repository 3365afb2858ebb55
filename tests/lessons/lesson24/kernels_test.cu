// The kernels of lesson 24 with matrices of every shape: what each writes, element by element, and that it
// writes nothing else.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "harness/check.hpp"
#include "harness/device_buffer.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "harness/verification.hpp"
#include "test_device.hpp"

namespace transposition {
#include "../../../lessons/lesson24_transposition/kernels.cuh"
#include "../../../lessons/lesson24_transposition/sectors.cuh"
} // namespace transposition

namespace lesson24_kernels {

using namespace harness;
using transposition::block_rows, transposition::tile_size;

struct MatrixKernel {
    const char* name;
    void (*kernel)(const int*, int*, unsigned int, unsigned int);
    bool transposes = true;
    friend void PrintTo(const MatrixKernel& kernel, std::ostream* out) { *out << kernel.name; }
};

const MatrixKernel matrix_kernels[] = {{"copy", transposition::copy, false},
                                       {"transposeNaive", transposition::transposeNaive},
                                       {"transposeTiled", transposition::transposeTiled},
                                       {"transposePadded", transposition::transposePadded},
                                       {"transposeSwizzled", transposition::transposeSwizzled},
                                       {"transposeSectors", transposition::transposeSectors}};

void launch(const MatrixKernel& kernel, const int* input, int* output, unsigned int width,
            unsigned int height) {
    if (kernel.kernel == transposition::transposeSectors) {
        const dim3 block(transposition::wide_tile, transposition::wide_rows);
        kernel.kernel<<<transposition::sector_tiles(output, width, height), block>>>(input, output, width,
                                                                                     height);
    } else {
        const dim3 grid(ceil_div(width, tile_size), ceil_div(height, tile_size));
        kernel.kernel<<<grid, dim3(tile_size, block_rows)>>>(input, output, width, height);
    }
}

/// \param offset the int of a buffer with which the output begins
testing::AssertionResult is_right(const MatrixKernel& kernel, unsigned int width, unsigned int height,
                                  std::size_t offset = 0) {
    constexpr std::size_t beyond = 64;
    const std::size_t n = std::size_t{width} * height;
    const RandomInts input(n, 7);
    DeviceBuffer<int> output(offset + n + beyond);
    output.poison();
    const std::vector<int> before = output.read(0, offset), after = output.read(offset + n, beyond);
    launch(kernel, input.data(), output.data() + offset, width, height);
    check_launch(kernel.name);
    synchronize(kernel.name);

    std::vector<int> expected;
    if (!kernel.transposes) expected = input.values(0, n);
    for (std::size_t col = 0; kernel.transposes && col < width; ++col)
        for (std::size_t row = 0; row < height; ++row) expected.push_back(random_int(7, row * width + col));
    const Verification result = compare_elements(expected, output.read(offset, n));
    const std::string where = kernel.name + (", " + std::to_string(width)) + " x " + std::to_string(height) +
                              ", from int " + std::to_string(offset) + " on: ";
    if (!result.passed) return testing::AssertionFailure() << where << result.wrong_places[0];
    if (output.read(0, offset) != before || output.read(offset + n, beyond) != after)
        return testing::AssertionFailure() << where << "writes beyond output";
    return testing::AssertionSuccess();
}

TEST(Lesson24Matrix, is_right_in_every_shape) {
    // Around a quarter of a tile, a tile and two tiles, in both directions.
    for (const unsigned int width : {1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65})
        for (const unsigned int height : {1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65})
            for (const MatrixKernel& kernel : matrix_kernels) EXPECT_TRUE(is_right(kernel, width, height));
}

TEST(Lesson24Matrix, is_right_if_long_and_narrow) {
    // nvcc 12 does not deduce the type of a list of lists.
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{
             {1000, 37}, {37, 1000}, {1, 4097}, {4097, 1}, {1023, 1025}, {3, 65'537}, {65'537, 3}})
        for (const MatrixKernel& kernel : matrix_kernels) EXPECT_TRUE(is_right(kernel, width, height));
}

TEST(Lesson24Matrix, of_columns_has_as_many_tiles_as_a_grid_may_be_high) {
    // gridDim.y is at most 65,535. The program's largest --height takes 2^20 / 32 = 32,768.
    EXPECT_LE(ceil_div(1u << 20, tile_size), 65'535u);
    EXPECT_TRUE(is_right(matrix_kernels[4], 1, 1u << 20));
}

// Rows that begin at each place within a sector. The last tile along a row has one int, all of them, or none
// that a row further on would have: 57 + 7 and 58 + 7 ints past a boundary are one tile and two.
TEST(Lesson24Sectors, is_right_wherever_the_output_begins) {
    const MatrixKernel& kernel = matrix_kernels[5];
    ASSERT_STREQ(kernel.name, "transposeSectors");
    for (std::size_t offset = 0; offset <= 8; ++offset)
        for (const unsigned int height : {1, 7, 8, 56, 57, 58, 64, 121, 122})
            for (const unsigned int width : {1, 9, 65}) EXPECT_TRUE(is_right(kernel, width, height, offset));
}

} // namespace lesson24_kernels

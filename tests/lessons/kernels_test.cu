// Every kernel, on every size that has a boundary near it, with every block (and every offset, and many
// grids, where they matter).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "../../lessons/lesson00_interleaved_pairs/kernels.cuh"
#include "../../lessons/lesson01_strided_index/kernels.cuh"
#include "../../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "../../lessons/lesson03_first_add_on_load/kernels.cuh"
#include "../../lessons/lesson04_unroll_last_warp/kernels.cuh"
#include "../../lessons/lesson05_unroll_the_tree/kernels.cuh"
#include "../../lessons/lesson06_algorithm_cascading/kernels.cuh"
#include "../../lessons/lesson07_warp_shuffles/kernels.cuh"
#include "../../lessons/lesson08_vectorized_loads/kernels.cuh"
#include "../../lessons/lesson09_one_launch/kernels.cuh"
#include "device_main.hpp"
#include "harness/check.hpp"
#include "harness/detail/measure.hpp"
#include "harness/launch_size.hpp"
#include "harness/reduction.hpp"
#include "sizes.hpp"

namespace kernels_test {

using namespace harness;

/// A kernel that leaves one partial sum per block.
struct Kernel {
    const char* name;
    void (*launch)(const Pass&);
    unsigned int elements_per_thread;
    /// How many blocks the device holds at once, for a kernel that loops over its grid; else null.
    unsigned int (*most_blocks)(unsigned int block) = nullptr;
    unsigned int shared_ints_per_thread = 1;

    ReductionShape shape(unsigned int block, std::size_t input_offset = 0) const {
        ReductionShape shape{.elements_per_thread = elements_per_thread,
                             .shared_ints_per_thread = shared_ints_per_thread,
                             .input_offset = input_offset};
        if (most_blocks != nullptr) shape.most_blocks = most_blocks(block);
        return shape;
    }
};

/// Launches a kernel that is given the block when the program runs,
template <auto kernel> void launch(const Pass& pass) {
    kernel<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
}

// and those that are compiled for each block.
void launch_reduce5(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) { launch<reduce5<block_size>>(pass); });
}
void launch_reduce6(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) { launch<reduce6<block_size>>(pass); });
}
void launch_reduce7(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) { launch<reduce7<block_size>>(pass); });
}
void launch_reduce8(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) { launch<reduce8<block_size>>(pass); });
}

unsigned int most_blocks_of_reduce6(unsigned int block) {
    unsigned int blocks = 0;
    with_block_size(block, [&](auto block_size) {
        blocks = resident_blocks(reduce6<block_size>, block, block * sizeof(int));
    });
    return blocks;
}
unsigned int most_blocks_of_reduce7(unsigned int block) {
    unsigned int blocks = 0;
    with_block_size(block, [&](auto block_size) { blocks = resident_blocks(reduce7<block_size>, block); });
    return blocks;
}
unsigned int most_blocks_of_reduce8(unsigned int block) {
    unsigned int blocks = 0;
    with_block_size(block, [&](auto block_size) { blocks = resident_blocks(reduce8<block_size>, block); });
    return blocks;
}

constexpr Kernel grid_stride_kernels[] = {
    {"reduce6", launch_reduce6, 2, most_blocks_of_reduce6},
    {"reduce7", launch_reduce7, 2, most_blocks_of_reduce7, 0},
    {"reduce8", launch_reduce8, 8, most_blocks_of_reduce8, 0},
};
constexpr Kernel kernels[] = {
    {"reduce0", launch<reduce0>, 1}, {"reduce0a", launch<reduce0a>, 1},
    {"reduce1", launch<reduce1>, 1}, {"reduce2", launch<reduce2>, 1},
    {"reduce3", launch<reduce3>, 2}, {"reduce4", launch<reduce4>, 2},
    {"reduce5", launch_reduce5, 2},  grid_stride_kernels[0],
    grid_stride_kernels[1],          grid_stride_kernels[2],
};

/// In ints, from a 256-byte boundary: every place in a 16-byte vector, and one in another sector.
constexpr std::size_t offsets[] = {0, 1, 2, 3, 5, 31};

testing::AssertionResult sums(const Kernel& kernel, const RandomInts& input, unsigned int block,
                              ReductionShape shape) {
    Reduction reduction(kernel.name, input, block, shape, kernel.launch);
    const Verification result = measure(test_device(), {.verify_only = true, .runs = 1}, kernel.name,
                                        reduction.launch_configuration(),
                                        {.prepare = [&] { reduction.prepare(); },
                                         .launch = [&] { reduction.launch_first(); },
                                         .verify = [&] { return reduction.finish(); }})
                                    .verification;
    if (result.passed) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "n = " << input.size() << ", offset " << input.offset() << ": expected " << result.expected
           << ", got " << result.actual << (result.wrong_places.empty() ? "" : "; " + result.wrong_places[0]);
}

class EveryKernel : public testing::TestWithParam<std::tuple<Kernel, unsigned int>> {};

TEST_P(EveryKernel, is_right_for_every_size) {
    const auto& [kernel, block] = GetParam();
    for (const std::size_t n : sizes_for(block)) {
        const RandomInts input(n, n + block); // fresh data for each
        EXPECT_TRUE(sums(kernel, input, block, kernel.shape(block)));
    }
}

/// "reduce3_block_256"
constexpr auto kernel_and_block = [](const auto& info) {
    return std::string(std::get<0>(info.param).name) + "_block_" + std::to_string(std::get<1>(info.param));
};

INSTANTIATE_TEST_SUITE_P(Lessons, EveryKernel,
                         testing::Combine(testing::ValuesIn(kernels), testing::ValuesIn(blocks)),
                         kernel_and_block);

class GridStrideKernel : public testing::TestWithParam<std::tuple<Kernel, unsigned int>> {};

TEST_P(GridStrideKernel, is_right_for_every_grid) {
    const auto& [kernel, block] = GetParam();
    for (const std::size_t n : {1, 1000, 100'003}) {
        const RandomInts input(n, n + block);
        for (const unsigned int most_blocks : {1, 2, 3, 7, 64, 1000}) {
            ReductionShape shape = kernel.shape(block);
            shape.most_blocks = most_blocks;
            EXPECT_TRUE(sums(kernel, input, block, shape)) << "at most " << most_blocks << " blocks";
            shape.elements_per_thread = 1; // more blocks than have work
            EXPECT_TRUE(sums(kernel, input, block, shape)) << "at most " << most_blocks << " blocks, spread";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Lessons, GridStrideKernel,
                         testing::Combine(testing::ValuesIn(grid_stride_kernels), testing::ValuesIn(blocks)),
                         kernel_and_block);

class EveryBlock : public testing::TestWithParam<unsigned int> {};
INSTANTIATE_TEST_SUITE_P(Lessons, EveryBlock, testing::ValuesIn(blocks),
                         [](const auto& info) { return "block_" + std::to_string(info.param); });

TEST_P(EveryBlock, of_reduce8_is_right_for_every_offset_and_size) {
    const Kernel& reduce8 = grid_stride_kernels[2];
    for (const std::size_t offset : offsets) {
        for (const std::size_t n : sizes_for(GetParam())) {
            const RandomInts input(n, n + offset, offset);
            EXPECT_TRUE(sums(reduce8, input, GetParam(), reduce8.shape(GetParam(), offset)));
        }
    }
}

TEST_P(EveryBlock, of_reduce7_needs_one_word_of_shared_memory_a_warp) {
    with_block_size(GetParam(), [](auto block_size) {
        cudaFuncAttributes attributes;
        HARNESS_CHECK(cudaFuncGetAttributes(&attributes, reduce7<block_size>));
        // nvcc rounds up to whole 16 bytes.
        EXPECT_EQ(attributes.sharedSizeBytes, harness::ceil_div(block_size / 32 * sizeof(int), 16) * 16);
        EXPECT_LE(attributes.sharedSizeBytes, 32 * sizeof(int));
    });
}

/// What reduce9 needs beside its input, as lesson09 sets it up.
struct OneLaunch {
    DeviceBuffer<int> result{1}, partial_sums{5000};
    DeviceBuffer<unsigned int> blocks_done{1};

    OneLaunch() { blocks_done.write(std::array{0u}); }

    int sum(const RandomInts& input, unsigned int grid, unsigned int block) {
        result.poison();
        partial_sums.poison();
        with_block_size(block, [&](auto block_size) {
            reduce9<block_size><<<grid, block>>>(input.data(), result.data(), input.size(),
                                                 partial_sums.data(), blocks_done.data());
        });
        check_launch("reduce9");
        synchronize("reduce9");
        return result.read().front();
    }
    unsigned int counter() const { return blocks_done.read().front(); }
};

TEST_P(EveryBlock, of_reduce9_is_right_for_every_offset_and_size) {
    OneLaunch reduce9;
    for (const std::size_t offset : offsets) {
        for (const std::size_t n : sizes_for(GetParam())) {
            const RandomInts input(n, n + offset, offset);
            const auto grid =
                static_cast<unsigned int>(std::min(ceil_div(n, 16 * GetParam()), std::size_t{264}));
            EXPECT_EQ(reduce9.sum(input, grid, GetParam()), input.sum())
                << "n = " << n << ", offset " << offset;
        }
    }
}

TEST_P(EveryBlock, of_reduce9_is_right_for_every_grid_and_leaves_the_counter_at_zero) {
    OneLaunch reduce9;
    for (const std::size_t n : {1, 1000, 100'003}) {
        const RandomInts input(n, n);
        for (const unsigned int grid : {1, 2, 3, 31, 32, 33, 264, 1025, 4999}) {
            SCOPED_TRACE(testing::Message() << "n = " << n << ", " << grid << " blocks");
            // Twice: the second launch finds what the first leaves.
            EXPECT_EQ(reduce9.sum(input, grid, GetParam()), input.sum());
            EXPECT_EQ(reduce9.counter(), 0u);
            EXPECT_EQ(reduce9.sum(input, grid, GetParam()), input.sum());
            EXPECT_EQ(reduce9.counter(), 0u);
        }
    }
}

TEST_P(EveryBlock, of_reduce9_leaves_the_same_partial_sums_in_every_run) {
    // Ints would not show a different order of additions; the partial sums show that each block has its own
    // elements, whichever block is the last.
    OneLaunch reduce9;
    const RandomInts input(100'003, 9);
    reduce9.sum(input, 33, GetParam());
    const std::vector<int> first = reduce9.partial_sums.read(0, 33);
    EXPECT_EQ(reference_sum(first), input.sum());
    for (int run = 0; run < 5; ++run) {
        reduce9.sum(input, 33, GetParam());
        EXPECT_EQ(reduce9.partial_sums.read(0, 33), first);
    }
}

} // namespace kernels_test

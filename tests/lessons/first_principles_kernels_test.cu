// The kernels of lessons 13 to 15, on every size that has a boundary near it, with every block.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "../../lessons/lesson13_atomics/kernels.cuh"
#include "../../lessons/lesson14_one_block/kernels.cuh"
#include "../../lessons/lesson15_segments_and_coarsening/kernels.cuh"
#include "device_main.hpp"
#include "harness/check.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "sizes.hpp"

namespace first_principles_kernels_test {

using namespace harness;

/// What a kernel is launched with. `input` is for kernels that only read it, `data` a copy for those that
/// work in place.
struct Sum {
    const int* input;
    int* data;
    int* result;
    std::size_t n;
    unsigned int grid, block;
};

template <auto kernel> void launch(const Sum& sum) {
    kernel<<<sum.grid, sum.block>>>(sum.input, sum.result, sum.n);
}
template <auto kernel> void launch_in_place(const Sum& sum) {
    kernel<<<sum.grid, sum.block>>>(sum.data, sum.result, sum.n);
}
template <auto kernel> void launch_with_shared_memory(const Sum& sum) {
    kernel<<<sum.grid, sum.block, sum.block * sizeof(int)>>>(sum.input, sum.result, sum.n);
}
void launch_sequential(const Sum& sum) { sequential_reduction<<<1, 1>>>(sum.input, sum.result, sum.n); }

struct Kernel {
    const char* name;
    void (*launch)(const Sum&);
    unsigned int elements_per_thread = 2;
};

/// Those that store the sum, of one block or one thread,
constexpr Kernel sequential{"sequential_reduction", launch_sequential};
constexpr Kernel one_block_kernels[] = {
    {"blocked_reduction", launch_in_place<blocked_reduction>},
    {"strided_reduction", launch_in_place<strided_reduction>},
    {"smem_reduction", launch_with_shared_memory<smem_reduction>},
};
/// and those that add to what is there.
constexpr Kernel adding_kernels[] = {
    {"naive_reduction", launch<naive_reduction>, 1},
    {"warp_reduction", launch<warp_reduction>, 1},
    {"block_reduction", launch<block_reduction>, 1},
    {"segmented_blocked", launch_in_place<segmented_blocked>},
    {"segmented_strided", launch_in_place<segmented_strided>},
    {"segmented_smem", launch_with_shared_memory<segmented_smem>},
    {"coarse_reduction_1", launch_with_shared_memory<coarse_reduction<1>>, 2},
    {"coarse_reduction_2", launch_with_shared_memory<coarse_reduction<2>>, 4},
    {"coarse_reduction_4", launch_with_shared_memory<coarse_reduction<4>>, 8},
    {"coarse_reduction_8", launch_with_shared_memory<coarse_reduction<8>>, 16},
    {"coarse_reduction_16", launch_with_shared_memory<coarse_reduction<16>>, 32},
};

/// One launch with `found` in *result. Returns the new value.
int run(const Kernel& kernel, const RandomInts& input, unsigned int block, int found,
        unsigned int superfluous_blocks = 0) {
    const std::size_t enough = ceil_div(input.size(), std::size_t{block} * kernel.elements_per_thread);
    const unsigned int grid = static_cast<unsigned int>(enough) + superfluous_blocks;
    DeviceBuffer<int> data(input.size()), result(1);
    data.write(input.device());
    result.write(std::array{found});
    kernel.launch({input.data(), data.data(), result.data(), input.size(), grid, block});
    check_launch(kernel.name);
    synchronize(kernel.name);
    return result.read().front();
}

TEST(Sequential, is_right_for_every_size) {
    for (const std::size_t n : sizes_for(1)) {
        const RandomInts input(n, n);
        EXPECT_EQ(run(sequential, input, 1, 12345), input.sum()) << "n = " << n;
    }
}

class OneBlock : public testing::TestWithParam<std::tuple<Kernel, unsigned int>> {};
class AddingKernel : public testing::TestWithParam<std::tuple<Kernel, unsigned int>> {};

/// "segmented_smem_block_256"
constexpr auto kernel_and_block = [](const auto& info) {
    return std::string(std::get<0>(info.param).name) + "_block_" + std::to_string(std::get<1>(info.param));
};

INSTANTIATE_TEST_SUITE_P(Lessons, OneBlock,
                         testing::Combine(testing::ValuesIn(one_block_kernels), testing::ValuesIn(blocks)),
                         kernel_and_block);
INSTANTIATE_TEST_SUITE_P(Lessons, AddingKernel,
                         testing::Combine(testing::ValuesIn(adding_kernels), testing::ValuesIn(blocks)),
                         kernel_and_block);

TEST_P(OneBlock, is_right_for_every_size_that_it_can_hold) {
    const auto& [kernel, block] = GetParam();
    std::vector<std::size_t> fitting;
    // Every length of a small block's input; of a large one those with a boundary near them.
    for (std::size_t n = 1; n <= std::min(2 * block, 256u); ++n) fitting.push_back(n);
    for (const std::size_t n : {257u, 511u, 1000u, block - 1, block, block + 1, 2 * block - 1, 2 * block})
        if (n <= 2 * block) fitting.push_back(n);
    for (const std::size_t n : fitting) {
        const RandomInts input(n, n + block);
        EXPECT_EQ(run(kernel, input, block, 12345), input.sum()) << "n = " << n;
    }
}

// The value of *result before the launch is part of the sum. A kernel that zeroed it would lose it, and in a
// grid of several blocks what others had already added.
TEST_P(AddingKernel, adds_to_the_result_for_every_size) {
    const auto& [kernel, block] = GetParam();
    for (const std::size_t n : sizes_for(block)) {
        const RandomInts input(n, n + block);
        for (const int found : {0, 1'000'000'007}) {
            const int expected = reference_sum(std::array{input.sum(), found});
            EXPECT_EQ(run(kernel, input, block, found), expected) << "n = " << n << ", found " << found;
        }
    }
}

TEST_P(AddingKernel, is_right_with_more_blocks_than_have_work) {
    const auto& [kernel, block] = GetParam();
    for (const std::size_t n : {1, 1000, 10'007}) {
        const RandomInts input(n, n + block);
        for (const unsigned int superfluous : {1, 2, 100})
            EXPECT_EQ(run(kernel, input, block, 0, superfluous), input.sum()) << "n = " << n;
    }
}

TEST(BlockReduction, needs_one_word_of_shared_memory) {
    cudaFuncAttributes attributes;
    HARNESS_CHECK(cudaFuncGetAttributes(&attributes, block_reduction));
    EXPECT_LE(attributes.sharedSizeBytes, 16u); // nvcc rounds up to whole 16 bytes
}

} // namespace first_principles_kernels_test

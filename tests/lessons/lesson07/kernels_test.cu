#include "../../../lessons/lesson07_warp_shuffles/kernels.cuh"
#include "harness/check.hpp"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

void launch_reduce7(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) { launch<reduce7<block_size>>(pass); });
}
unsigned int most_blocks_of_reduce7(unsigned int block) {
    unsigned int blocks = 0;
    with_block_size(block, [&](auto block_size) { blocks = resident_blocks(reduce7<block_size>, block); });
    return blocks;
}

constexpr Kernel reduce7_kernel{"reduce7", launch_reduce7, 2, most_blocks_of_reduce7, 0};
INSTANTIATE_TEST_SUITE_P(lesson07, EveryKernel, with_every_block(reduce7_kernel), kernel_and_block);
INSTANTIATE_TEST_SUITE_P(lesson07, GridStrideKernel, with_every_block(reduce7_kernel), kernel_and_block);

class Reduce7 : public testing::TestWithParam<unsigned int> {};
INSTANTIATE_TEST_SUITE_P(lesson07, Reduce7, testing::ValuesIn(blocks), block_name);

TEST_P(Reduce7, needs_one_word_of_shared_memory_a_warp) {
    with_block_size(GetParam(), [](auto block_size) {
        cudaFuncAttributes attributes;
        HARNESS_CHECK(cudaFuncGetAttributes(&attributes, reduce7<block_size>));
        // nvcc rounds up to whole 16 bytes.
        EXPECT_EQ(attributes.sharedSizeBytes, harness::ceil_div(block_size / 32 * sizeof(int), 16) * 16);
        EXPECT_LE(attributes.sharedSizeBytes, 32 * sizeof(int));
    });
}

} // namespace ladder_kernels

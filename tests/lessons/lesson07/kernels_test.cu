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

TEST(Lesson07Reduce7, is_right_for_every_size) { expect_sums_of_every_size(reduce7_kernel); }

TEST(Lesson07Reduce7, is_right_for_every_grid) { expect_sums_in_every_grid(reduce7_kernel); }

TEST(Lesson07Reduce7, needs_one_word_of_shared_memory_a_warp) {
    with_every_block([](unsigned int block) {
        with_block_size(block, [](auto block_size) {
            cudaFuncAttributes attributes;
            HARNESS_CHECK(cudaFuncGetAttributes(&attributes, reduce7<block_size>));
            // nvcc rounds up to whole 16 bytes.
            EXPECT_EQ(attributes.sharedSizeBytes, harness::ceil_div(block_size / 32 * sizeof(int), 16) * 16);
            EXPECT_LE(attributes.sharedSizeBytes, 32 * sizeof(int));
        });
    });
}

} // namespace ladder_kernels

#include "../../../lessons/lesson08_vectorized_loads/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

void launch_reduce8(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) { launch<reduce8<block_size>>(pass); });
}
unsigned int most_blocks_of_reduce8(unsigned int block) {
    unsigned int blocks = 0;
    with_block_size(block, [&](auto block_size) { blocks = resident_blocks(reduce8<block_size>, block); });
    return blocks;
}

constexpr Kernel reduce8_kernel{"reduce8", launch_reduce8, 8, most_blocks_of_reduce8, 0};
INSTANTIATE_TEST_SUITE_P(lesson08, EveryKernel, with_every_block(reduce8_kernel), kernel_and_block);
INSTANTIATE_TEST_SUITE_P(lesson08, GridStrideKernel, with_every_block(reduce8_kernel), kernel_and_block);

class Reduce8 : public testing::TestWithParam<unsigned int> {};
INSTANTIATE_TEST_SUITE_P(lesson08, Reduce8, testing::ValuesIn(blocks), block_name);

TEST_P(Reduce8, is_right_for_every_offset_and_size) {
    for (const std::size_t offset : offsets) {
        for (const std::size_t n : sizes_for(GetParam())) {
            const RandomInts input(n, n + offset, offset);
            EXPECT_TRUE(sums(reduce8_kernel, input, GetParam(), reduce8_kernel.shape(GetParam(), offset)));
        }
    }
}

} // namespace ladder_kernels

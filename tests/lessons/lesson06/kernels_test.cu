#include "../../../lessons/lesson06_algorithm_cascading/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

void launch_reduce6(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) { launch<reduce6<block_size>>(pass); });
}
unsigned int most_blocks_of_reduce6(unsigned int block) {
    unsigned int blocks = 0;
    with_block_size(block, [&](auto block_size) {
        blocks = resident_blocks(reduce6<block_size>, block, block * sizeof(int));
    });
    return blocks;
}

constexpr Kernel reduce6_kernel{"reduce6", launch_reduce6, 2, most_blocks_of_reduce6};
INSTANTIATE_TEST_SUITE_P(lesson06, EveryKernel, with_every_block(reduce6_kernel), kernel_and_block);
INSTANTIATE_TEST_SUITE_P(lesson06, GridStrideKernel, with_every_block(reduce6_kernel), kernel_and_block);

} // namespace ladder_kernels

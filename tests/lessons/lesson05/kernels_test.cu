#include "../../../lessons/lesson05_unroll_the_tree/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

void launch_reduce5(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) { launch<reduce5<block_size>>(pass); });
}

INSTANTIATE_TEST_SUITE_P(lesson05, EveryKernel, with_every_block(Kernel{"reduce5", launch_reduce5, 2}),
                         kernel_and_block);

} // namespace ladder_kernels

#include "../../../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

INSTANTIATE_TEST_SUITE_P(lesson02, EveryKernel, with_every_block(Kernel{"reduce2", launch<reduce2>, 1}),
                         kernel_and_block);

} // namespace ladder_kernels

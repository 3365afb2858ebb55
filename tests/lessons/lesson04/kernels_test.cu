#include "../../../lessons/lesson04_unroll_last_warp/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

INSTANTIATE_TEST_SUITE_P(lesson04, EveryKernel, with_every_block(Kernel{"reduce4", launch<reduce4>, 2}),
                         kernel_and_block);

} // namespace ladder_kernels

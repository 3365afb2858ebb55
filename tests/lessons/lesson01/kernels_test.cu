#include "../../../lessons/lesson01_strided_index/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

INSTANTIATE_TEST_SUITE_P(lesson01, EveryKernel, with_every_block(Kernel{"reduce1", launch<reduce1>, 1}),
                         kernel_and_block);

} // namespace ladder_kernels

#include "../../../lessons/lesson03_first_add_on_load/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

INSTANTIATE_TEST_SUITE_P(lesson03, EveryKernel, with_every_block(Kernel{"reduce3", launch<reduce3>, 2}),
                         kernel_and_block);

} // namespace ladder_kernels

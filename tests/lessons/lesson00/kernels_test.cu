#include "../../../lessons/lesson00_interleaved_pairs/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

INSTANTIATE_TEST_SUITE_P(lesson00, EveryKernel,
                         with_every_block(Kernel{"reduce0", launch<reduce0>, 1},
                                          Kernel{"reduce0a", launch<reduce0a>, 1}),
                         kernel_and_block);

} // namespace ladder_kernels

#include "../../../lessons/lesson15_segments_and_coarsening/kernels.cuh"
#include "first_principles_kernels.cuh"

namespace first_principles_kernels {

INSTANTIATE_TEST_SUITE_P(
    lesson15, AddingKernel,
    with_every_block(Kernel{"segmented_blocked", launch_in_place<segmented_blocked>},
                     Kernel{"segmented_strided", launch_in_place<segmented_strided>},
                     Kernel{"segmented_smem", launch_with_shared_memory<segmented_smem>},
                     Kernel{"coarse_reduction_1", launch_with_shared_memory<coarse_reduction<1>>, 2},
                     Kernel{"coarse_reduction_2", launch_with_shared_memory<coarse_reduction<2>>, 4},
                     Kernel{"coarse_reduction_4", launch_with_shared_memory<coarse_reduction<4>>, 8},
                     Kernel{"coarse_reduction_8", launch_with_shared_memory<coarse_reduction<8>>, 16},
                     Kernel{"coarse_reduction_16", launch_with_shared_memory<coarse_reduction<16>>, 32}),
    kernel_and_block);

} // namespace first_principles_kernels

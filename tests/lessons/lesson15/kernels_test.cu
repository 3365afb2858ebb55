#include "../../../lessons/lesson15_segments_and_coarsening/kernels.cuh"
#include "first_principles_kernels.cuh"

namespace first_principles_kernels {

const std::vector<Kernel> kernels_of_lesson15 = {
    {"segmented_blocked", launch_in_place<segmented_blocked>},
    {"segmented_strided", launch_in_place<segmented_strided>},
    {"segmented_smem", launch_with_shared_memory<segmented_smem>},
    {"coarse_reduction_1", launch_with_shared_memory<coarse_reduction<1>>, 2},
    {"coarse_reduction_2", launch_with_shared_memory<coarse_reduction<2>>, 4},
    {"coarse_reduction_4", launch_with_shared_memory<coarse_reduction<4>>, 8},
    {"coarse_reduction_8", launch_with_shared_memory<coarse_reduction<8>>, 16},
    {"coarse_reduction_16", launch_with_shared_memory<coarse_reduction<16>>, 32},
};

TEST(Lesson15AddingKernels, add_to_the_result_for_every_size) {
    expect_every_size_to_be_added(kernels_of_lesson15);
}

TEST(Lesson15AddingKernels, are_right_with_more_blocks_than_have_work) {
    expect_sums_with_superfluous_blocks(kernels_of_lesson15);
}

} // namespace first_principles_kernels

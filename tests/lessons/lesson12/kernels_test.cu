#include "../../../lessons/lesson12_dynamic_shared_memory/kernels.cuh"
#include "gmem_smem_kernels.cuh"

namespace gmem_smem_kernels {

const std::vector<Kernel> kernels_of_lesson12 = {
    {"reduceSmemDyn", launch_dynamic<reduceSmemDyn>, {}},
    {"reduceSmemUnrollDyn", launch_dynamic<reduceSmemUnrollDyn>, {.elements_per_thread = 4}},
};

TEST(Lesson12GmemAndSmem, is_right_for_every_size_and_in_every_run) {
    expect_sums_of_every_size_in_every_run(kernels_of_lesson12);
}

TEST(Lesson12GmemAndSmem, adds_nothing_that_lies_behind_the_elements) {
    expect_sums_without_what_lies_behind(kernels_of_lesson12);
}

TEST(Lesson12StaticSize, is_zero_where_the_launch_says_it) {
    EXPECT_EQ(static_shared_bytes(reduceSmemDyn), 0u);
    EXPECT_EQ(static_shared_bytes(reduceSmemUnrollDyn), 0u);
}

} // namespace gmem_smem_kernels

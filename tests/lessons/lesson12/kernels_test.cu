#include "../../../lessons/lesson12_dynamic_shared_memory/kernels.cuh"
#include "gmem_smem_kernels.cuh"

namespace gmem_smem_kernels {

INSTANTIATE_TEST_SUITE_P(lesson12, GmemAndSmem,
                         with_every_block(Kernel{"reduceSmemDyn", launch_dynamic<reduceSmemDyn>, {}},
                                          Kernel{"reduceSmemUnrollDyn",
                                                 launch_dynamic<reduceSmemUnrollDyn>,
                                                 {.elements_per_thread = 4}}),
                         kernel_and_block);

TEST(Lesson12StaticSize, is_zero_where_the_launch_says_it) {
    EXPECT_EQ(static_shared_bytes(reduceSmemDyn), 0u);
    EXPECT_EQ(static_shared_bytes(reduceSmemUnrollDyn), 0u);
}

} // namespace gmem_smem_kernels

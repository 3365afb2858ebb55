#include "../../../lessons/lesson11_unroll_four_blocks/kernels.cuh"
#include "gmem_smem_kernels.cuh"

namespace gmem_smem_kernels {

void launch_reduceSmemUnroll(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) {
        reduceSmemUnroll<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
    });
}

constexpr Kernel gmem_unroll{"reduceGmemUnroll",
                             launch_in_place<reduceGmemUnroll>,
                             {.elements_per_thread = 4, .shared_ints_per_thread = 0, .in_place = true}};

INSTANTIATE_TEST_SUITE_P(lesson11, InPlaceKernel, with_every_block(gmem_unroll), kernel_and_block);
INSTANTIATE_TEST_SUITE_P(lesson11, GmemAndSmem,
                         with_every_block(gmem_unroll,
                                          Kernel{"reduceSmemUnroll",
                                                 launch_reduceSmemUnroll,
                                                 {.elements_per_thread = 4, .shared_ints_per_thread = 0}}),
                         kernel_and_block);

class StaticSizeUnrolled : public testing::TestWithParam<unsigned int> {};
INSTANTIATE_TEST_SUITE_P(lesson11, StaticSizeUnrolled, testing::ValuesIn(blocks), block_name);

TEST_P(StaticSizeUnrolled, is_one_int_a_thread) {
    with_block_size(GetParam(), [](auto block_size) {
        EXPECT_EQ(static_shared_bytes(reduceSmemUnroll<block_size>), block_size * sizeof(int));
    });
    EXPECT_EQ(static_shared_bytes(reduceGmemUnroll), 0u);
}

} // namespace gmem_smem_kernels

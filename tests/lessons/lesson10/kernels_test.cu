#include "../../../lessons/lesson10_shared_against_global/kernels.cuh"
#include "gmem_smem_kernels.cuh"

namespace gmem_smem_kernels {

void launch_reduceNeighboredSmem(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) {
        reduceNeighboredSmem<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
    });
}
void launch_reduceSmem(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) {
        reduceSmem<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
    });
}

constexpr ReductionShape in_place{.shared_ints_per_thread = 0, .in_place = true};
constexpr Kernel neighbored_gmem{"reduceNeighboredGmem", launch_in_place<reduceNeighboredGmem>, in_place};
constexpr Kernel gmem{"reduceGmem", launch_in_place<reduceGmem>, in_place};

INSTANTIATE_TEST_SUITE_P(lesson10, InPlaceKernel, with_every_block(neighbored_gmem, gmem), kernel_and_block);
INSTANTIATE_TEST_SUITE_P(
    lesson10, GmemAndSmem,
    with_every_block(neighbored_gmem, gmem,
                     Kernel{
                         "reduceNeighboredSmem", launch_reduceNeighboredSmem, {.shared_ints_per_thread = 0}},
                     Kernel{"reduceSmem", launch_reduceSmem, {.shared_ints_per_thread = 0}}),
    kernel_and_block);

class StaticSize : public testing::TestWithParam<unsigned int> {};
INSTANTIATE_TEST_SUITE_P(lesson10, StaticSize, testing::ValuesIn(blocks), block_name);

TEST_P(StaticSize, is_one_int_a_thread) {
    with_block_size(GetParam(), [](auto block_size) {
        EXPECT_EQ(static_shared_bytes(reduceNeighboredSmem<block_size>), block_size * sizeof(int));
        EXPECT_EQ(static_shared_bytes(reduceSmem<block_size>), block_size * sizeof(int));
    });
    EXPECT_EQ(static_shared_bytes(reduceGmem), 0u);
}

} // namespace gmem_smem_kernels

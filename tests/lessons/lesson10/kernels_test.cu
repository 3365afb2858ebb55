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
constexpr ReductionShape in_shared_memory{.shared_ints_per_thread = 0};
/// The first two sum in place.
const std::vector<Kernel> kernels_of_lesson10 = {
    {"reduceNeighboredGmem", launch_in_place<reduceNeighboredGmem>, in_place},
    {"reduceGmem", launch_in_place<reduceGmem>, in_place},
    {"reduceNeighboredSmem", launch_reduceNeighboredSmem, in_shared_memory},
    {"reduceSmem", launch_reduceSmem, in_shared_memory},
};

TEST(Lesson10GmemAndSmem, is_right_for_every_size_and_in_every_run) {
    expect_sums_of_every_size_in_every_run(kernels_of_lesson10);
}

TEST(Lesson10GmemAndSmem, adds_nothing_that_lies_behind_the_elements) {
    expect_sums_without_what_lies_behind(kernels_of_lesson10);
}

TEST(Lesson10InPlaceKernels, write_only_to_words_that_hold_their_tree) {
    expect_writes_to_words_of_the_tree_only({kernels_of_lesson10[0], kernels_of_lesson10[1]});
}

TEST(Lesson10InPlaceKernels, leave_their_sums_in_their_input) {
    expect_sums_to_be_left_in_the_input({kernels_of_lesson10[0], kernels_of_lesson10[1]});
}

TEST(Lesson10StaticSize, is_one_int_a_thread) {
    with_every_block([](unsigned int block) {
        with_block_size(block, [](auto block_size) {
            EXPECT_EQ(static_shared_bytes(reduceNeighboredSmem<block_size>), block_size * sizeof(int));
            EXPECT_EQ(static_shared_bytes(reduceSmem<block_size>), block_size * sizeof(int));
        });
    });
    EXPECT_EQ(static_shared_bytes(reduceGmem), 0u);
}

} // namespace gmem_smem_kernels

#include "../../../lessons/lesson11_unroll_four_blocks/kernels.cuh"
#include "gmem_smem_kernels.cuh"

namespace gmem_smem_kernels {

void launch_reduceSmemUnroll(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) {
        reduceSmemUnroll<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
    });
}

/// The first one sums in place.
const std::vector<Kernel> kernels_of_lesson11 = {
    {"reduceGmemUnroll",
     launch_in_place<reduceGmemUnroll>,
     {.elements_per_thread = 4, .shared_ints_per_thread = 0, .in_place = true}},
    {"reduceSmemUnroll", launch_reduceSmemUnroll, {.elements_per_thread = 4, .shared_ints_per_thread = 0}},
};

TEST(Lesson11GmemAndSmem, is_right_for_every_size_and_in_every_run) {
    expect_sums_of_every_size_in_every_run(kernels_of_lesson11);
}

TEST(Lesson11GmemAndSmem, adds_nothing_that_lies_behind_the_elements) {
    expect_sums_without_what_lies_behind(kernels_of_lesson11);
}

TEST(Lesson11InPlaceKernels, write_only_to_words_that_hold_their_tree) {
    expect_writes_to_words_of_the_tree_only({kernels_of_lesson11[0]});
}

TEST(Lesson11InPlaceKernels, leave_their_sums_in_their_input) {
    expect_sums_to_be_left_in_the_input({kernels_of_lesson11[0]});
}

TEST(Lesson11StaticSize, is_one_int_a_thread) {
    with_every_block([](unsigned int block) {
        with_block_size(block, [](auto block_size) {
            EXPECT_EQ(static_shared_bytes(reduceSmemUnroll<block_size>), block_size * sizeof(int));
        });
    });
    EXPECT_EQ(static_shared_bytes(reduceGmemUnroll), 0u);
}

} // namespace gmem_smem_kernels

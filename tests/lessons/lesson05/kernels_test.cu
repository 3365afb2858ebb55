#include "../../../lessons/lesson05_unroll_the_tree/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

void launch_reduce5(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) { launch<reduce5<block_size>>(pass); });
}

TEST(Lesson05Reduce5, is_right_for_every_size) { expect_sums_of_every_size({"reduce5", launch_reduce5, 2}); }

} // namespace ladder_kernels

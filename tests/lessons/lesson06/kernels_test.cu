#include "../../../lessons/lesson06_algorithm_cascading/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

void launch_reduce6(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) { launch<reduce6<block_size>>(pass); });
}
unsigned int most_blocks_of_reduce6(unsigned int block) {
    unsigned int blocks = 0;
    with_block_size(block, [&](auto block_size) {
        blocks = resident_blocks(reduce6<block_size>, block, block * sizeof(int));
    });
    return blocks;
}

constexpr Kernel reduce6_kernel{"reduce6", launch_reduce6, 2, most_blocks_of_reduce6};

TEST(Lesson06Reduce6, is_right_for_every_size) { expect_sums_of_every_size(reduce6_kernel); }

TEST(Lesson06Reduce6, is_right_for_every_grid) { expect_sums_in_every_grid(reduce6_kernel); }

} // namespace ladder_kernels

#include "../../../lessons/lesson08_vectorized_loads/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

void launch_reduce8(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) { launch<reduce8<block_size>>(pass); });
}
unsigned int most_blocks_of_reduce8(unsigned int block) {
    unsigned int blocks = 0;
    with_block_size(block, [&](auto block_size) { blocks = resident_blocks(reduce8<block_size>, block); });
    return blocks;
}

constexpr Kernel reduce8_kernel{"reduce8", launch_reduce8, 8, most_blocks_of_reduce8, 0};

TEST(Lesson08Reduce8, is_right_for_every_size) { expect_sums_of_every_size(reduce8_kernel); }

TEST(Lesson08Reduce8, is_right_for_every_grid) { expect_sums_in_every_grid(reduce8_kernel); }

TEST(Lesson08Reduce8, is_right_for_every_offset_and_size) {
    with_every_block([](unsigned int block) {
        for (const std::size_t offset : offsets) {
            for (const std::size_t n : sizes_for(block)) {
                const RandomInts input(n, n + offset, offset);
                EXPECT_TRUE(sums(reduce8_kernel, input, block, reduce8_kernel.shape(block, offset)));
            }
        }
    });
}

} // namespace ladder_kernels

#include <algorithm>
#include <vector>

#include "../../../lessons/lesson14_one_block/kernels.cuh"
#include "first_principles_kernels.cuh"

namespace first_principles_kernels {

/// These store the sum.
constexpr Kernel kernels_of_lesson14[] = {
    {"blocked_reduction", launch_in_place<blocked_reduction>},
    {"strided_reduction", launch_in_place<strided_reduction>},
    {"smem_reduction", launch_with_shared_memory<smem_reduction>},
};

TEST(Lesson14OneBlock, is_right_for_every_size_that_it_can_hold) {
    with_every_kernel_and_block(kernels_of_lesson14, [](const Kernel& kernel, unsigned int block) {
        std::vector<std::size_t> fitting;
        // Every length of a small block's input; of a large one those with a boundary near them.
        for (std::size_t n = 1; n <= std::min(2 * block, 256u); ++n) fitting.push_back(n);
        for (const std::size_t n : {257u, 511u, 1000u, block - 1, block, block + 1, 2 * block - 1, 2 * block})
            if (n <= 2 * block) fitting.push_back(n);
        for (const std::size_t n : fitting) {
            const RandomInts input(n, n + block);
            EXPECT_EQ(run(kernel, input, block, 12345), input.sum()) << "n = " << n;
        }
    });
}

} // namespace first_principles_kernels

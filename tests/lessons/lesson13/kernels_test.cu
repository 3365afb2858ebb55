#include "../../../lessons/lesson13_atomics/kernels.cuh"
#include "first_principles_kernels.cuh"
#include "harness/check.hpp"

namespace first_principles_kernels {

void launch_sequential(const Sum& sum) { sequential_reduction<<<1, 1>>>(sum.input, sum.result, sum.n); }

TEST(Lesson13Sequential, is_right_for_every_size) {
    constexpr Kernel sequential{"sequential_reduction", launch_sequential};
    for (const std::size_t n : sizes_for(1)) {
        const RandomInts input(n, n);
        EXPECT_EQ(run(sequential, input, 1, 12345), input.sum()) << "n = " << n;
    }
}

const std::vector<Kernel> kernels_of_lesson13 = {
    {"naive_reduction", launch<naive_reduction>, 1},
    {"warp_reduction", launch<warp_reduction>, 1},
    {"block_reduction", launch<block_reduction>, 1},
};

TEST(Lesson13AddingKernels, add_to_the_result_for_every_size) {
    expect_every_size_to_be_added(kernels_of_lesson13);
}

TEST(Lesson13AddingKernels, are_right_with_more_blocks_than_have_work) {
    expect_sums_with_superfluous_blocks(kernels_of_lesson13);
}

TEST(Lesson13BlockReduction, needs_one_word_of_shared_memory) {
    cudaFuncAttributes attributes;
    HARNESS_CHECK(cudaFuncGetAttributes(&attributes, block_reduction));
    EXPECT_LE(attributes.sharedSizeBytes, 16u); // nvcc rounds up to whole 16 bytes
}

} // namespace first_principles_kernels

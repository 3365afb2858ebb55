// The kernels of lessons 13 to 15, on every size that has a boundary near it, with every block.
#include "first_principles_kernels.cuh"

#include <array>

#include "harness/check.hpp"

namespace first_principles_kernels {

int run(const Kernel& kernel, const RandomInts& input, unsigned int block, int found,
        unsigned int superfluous_blocks) {
    const std::size_t enough = ceil_div(input.size(), std::size_t{block} * kernel.elements_per_thread);
    const unsigned int grid = static_cast<unsigned int>(enough) + superfluous_blocks;
    DeviceBuffer<int> data(input.size()), result(1);
    data.write(input.device());
    result.write(std::array{found});
    kernel.launch({input.data(), data.data(), result.data(), input.size(), grid, block});
    check_launch(kernel.name);
    synchronize(kernel.name);
    return result.read().front();
}

// The value of *result before the launch is part of the sum. A kernel that zeroed it would lose it, and in a
// grid of several blocks what others had already added.
void expect_every_size_to_be_added(const std::vector<Kernel>& kernels) {
    with_every_kernel_and_block(kernels, [](const Kernel& kernel, unsigned int block) {
        for (const std::size_t n : sizes_for(block)) {
            const RandomInts input(n, n + block);
            for (const int found : {0, 1'000'000'007}) {
                const int expected = reference_sum(std::array{input.sum(), found});
                EXPECT_EQ(run(kernel, input, block, found), expected) << "n = " << n << ", found " << found;
            }
        }
    });
}

void expect_sums_with_superfluous_blocks(const std::vector<Kernel>& kernels) {
    with_every_kernel_and_block(kernels, [](const Kernel& kernel, unsigned int block) {
        for (const std::size_t n : {1, 1000, 10'007}) {
            const RandomInts input(n, n + block);
            for (const unsigned int superfluous : {1, 2, 100})
                EXPECT_EQ(run(kernel, input, block, 0, superfluous), input.sum()) << "n = " << n;
        }
    });
}

} // namespace first_principles_kernels

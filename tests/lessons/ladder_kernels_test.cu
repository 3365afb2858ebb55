// The kernels of lessons 00 to 09, on every size that has a boundary near it, with every block (and many
// grids, where they matter).
#include "ladder_kernels.cuh"

#include "harness/detail/measure.hpp"
#include "test_device.hpp"

namespace ladder_kernels {

testing::AssertionResult sums(const Kernel& kernel, const RandomInts& input, unsigned int block,
                              ReductionShape shape) {
    Reduction reduction(kernel.name, input, block, shape, kernel.launch);
    const Verification result = measure(test_device(), {.verify_only = true, .runs = 1}, kernel.name,
                                        reduction.launch_configuration(),
                                        {.prepare = [&] { reduction.prepare(); },
                                         .launch = [&] { reduction.launch_first(); },
                                         .verify = [&] { return reduction.finish(); }})
                                    .verification;
    if (result.passed) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "n = " << input.size() << ", offset " << input.offset() << ": expected " << result.expected
           << ", got " << result.actual << (result.wrong_places.empty() ? "" : "; " + result.wrong_places[0]);
}

void expect_sums_of_every_size(const Kernel& kernel) {
    with_every_block([&](unsigned int block) {
        for (const std::size_t n : sizes_for(block)) {
            const RandomInts input(n, n + block); // fresh data for each
            EXPECT_TRUE(sums(kernel, input, block, kernel.shape(block)));
        }
    });
}

void expect_sums_in_every_grid(const Kernel& kernel) {
    with_every_block([&](unsigned int block) {
        for (const std::size_t n : {1, 1000, 100'003}) {
            const RandomInts input(n, n + block);
            for (const unsigned int most_blocks : {1, 2, 3, 7, 64, 1000}) {
                ReductionShape shape = kernel.shape(block);
                shape.most_blocks = most_blocks;
                EXPECT_TRUE(sums(kernel, input, block, shape)) << "at most " << most_blocks << " blocks";
                shape.elements_per_thread = 1; // more blocks than have work
                EXPECT_TRUE(sums(kernel, input, block, shape))
                    << "at most " << most_blocks << " blocks, spread";
            }
        }
    });
}

} // namespace ladder_kernels

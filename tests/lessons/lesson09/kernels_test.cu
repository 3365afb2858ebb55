#include <algorithm>
#include <array>
#include <vector>

#include "../../../lessons/lesson09_one_launch/kernels.cuh"
#include "harness/check.hpp"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

/// What reduce9 needs beside its input, as lesson09 sets it up.
struct OneLaunch {
    DeviceBuffer<int> result{1}, partial_sums{5000};
    DeviceBuffer<unsigned int> blocks_done{1};

    OneLaunch() { blocks_done.write(std::array{0u}); }

    int sum(const RandomInts& input, unsigned int grid, unsigned int block) {
        result.poison();
        partial_sums.poison();
        with_block_size(block, [&](auto block_size) {
            reduce9<block_size><<<grid, block>>>(input.data(), result.data(), input.size(),
                                                 partial_sums.data(), blocks_done.data());
        });
        check_launch("reduce9");
        synchronize("reduce9");
        return result.read().front();
    }
    unsigned int counter() const { return blocks_done.read().front(); }
};

TEST(Lesson09Reduce9, is_right_for_every_offset_and_size) {
    with_every_block([](unsigned int block) {
        OneLaunch reduce9;
        for (const std::size_t offset : offsets) {
            for (const std::size_t n : sizes_for(block)) {
                const RandomInts input(n, n + offset, offset);
                const auto grid =
                    static_cast<unsigned int>(std::min(ceil_div(n, 16 * block), std::size_t{264}));
                EXPECT_EQ(reduce9.sum(input, grid, block), input.sum())
                    << "n = " << n << ", offset " << offset;
            }
        }
    });
}

TEST(Lesson09Reduce9, is_right_for_every_grid_and_leaves_the_counter_at_zero) {
    with_every_block([](unsigned int block) {
        OneLaunch reduce9;
        for (const std::size_t n : {1, 1000, 100'003}) {
            const RandomInts input(n, n);
            for (const unsigned int grid : {1, 2, 3, 31, 32, 33, 264, 1025, 4999}) {
                SCOPED_TRACE(testing::Message() << "n = " << n << ", " << grid << " blocks");
                // Twice: the second launch finds what the first leaves.
                EXPECT_EQ(reduce9.sum(input, grid, block), input.sum());
                EXPECT_EQ(reduce9.counter(), 0u);
                EXPECT_EQ(reduce9.sum(input, grid, block), input.sum());
                EXPECT_EQ(reduce9.counter(), 0u);
            }
        }
    });
}

TEST(Lesson09Reduce9, leaves_the_same_partial_sums_in_every_run) {
    with_every_block([](unsigned int block) {
        // Ints would not show a different order of additions; the partial sums show that each block has its
        // own elements, whichever block is the last.
        OneLaunch reduce9;
        const RandomInts input(100'003, 9);
        reduce9.sum(input, 33, block);
        const std::vector<int> first = reduce9.partial_sums.read(0, 33);
        EXPECT_EQ(reference_sum(first), input.sum());
        for (int run = 0; run < 5; ++run) {
            reduce9.sum(input, 33, block);
            EXPECT_EQ(reduce9.partial_sums.read(0, 33), first);
        }
    });
}

} // namespace ladder_kernels

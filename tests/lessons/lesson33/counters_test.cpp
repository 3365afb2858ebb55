// The counters of lesson 33's first launch, to the digit.
//
// n floats from an address that 16 divides: v = n / 4 vectors, t = n % 4 floats past them. A warp's request is 32 vectors, 512
// bytes, 16 sectors:
//   load requests   ceil(v / 32), and 1 for a tail
//   load sectors    ceil(v / 2), and 1 for a tail
// Where some lanes of a warp have all of their four vectors and some do not, a vector more or less takes a request of its own:
// sizes that end within a warp's vectors have more requests, of the same sectors.
// G = ceil(n / 16 / B) blocks of W = B / 32 warps. Each block stores its value. In shared memory every warp stores its value,
// and the first warp loads them all: W stores and 1 load, a wavefront each.
// A range is two floats, 8 bytes: as many, but for the loads of 32 warps' values, 256 bytes, two wavefronts.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "harness/reduction.hpp"
#include "launch.hpp"

namespace lesson33_counters {

using harness::ceil_div;

TEST(Lesson33, loads_each_sector_once_and_stores_a_value_per_block) {
    for (const char* kernel : {"two_launches", "range_of_blocks"}) {
        for (const std::uint64_t n : {1, 31, 1000, 4096, 65'537, 100'003}) {
            for (const unsigned int block : {64u, 256u, 1024u}) {
                SCOPED_TRACE(testing::Message() << kernel << ", n = " << n << ", blocks of " << block);
                const Launch first{"lesson33", kernel,
                                   " --n " + std::to_string(n) + " --block " + std::to_string(block)};
                const std::uint64_t blocks = ceil_div(n, std::uint64_t{16} * block);
                if (n != 1000 && n != 100'003) {
                    EXPECT_EQ(first.requests("ld"), ceil_div(n / 4, 32) + (n % 4 != 0));
                }
                EXPECT_EQ(first.sectors("ld"), ceil_div(n / 4, 2) + (n % 4 != 0));
                EXPECT_EQ(first.requests("st"), blocks);
                EXPECT_EQ(first.sectors("st"), blocks);
                EXPECT_EQ(first.sectors("atom") + first.sectors("red"), 0u);
                EXPECT_EQ(first.wavefronts("st"), blocks * block / 32);
                const bool is_wide = std::string(kernel) == "range_of_blocks" && block == 1024;
                EXPECT_EQ(first.wavefronts("ld"), (is_wide ? 2 : 1) * blocks);
            }
        }
    }
}

// One launch, up to 2^17 floats: the header's only kernel is the last one, which is counted.
TEST(Lesson33, reduces_in_one_launch_up_to_2_to_the_17) {
    for (const std::uint64_t n : {65, 1000, 2048}) { // plain loads: a request for 32 of them
        const Launch one{"lesson33", "reduce", " --n " + std::to_string(n)};
        EXPECT_EQ(one.requests("ld"), ceil_div(n, 32)) << n;
        EXPECT_EQ(one.sectors("st"), 1u) << n;
    }
    for (const std::uint64_t n : {2049, 16'384, 16'385, 131'072}) { // vectors
        const Launch one{"lesson33", "reduce", " --n " + std::to_string(n)};
        EXPECT_EQ(one.requests("ld"), ceil_div(n / 4, 32) + (n % 4 != 0)) << n;
        EXPECT_EQ(one.sectors("ld"), ceil_div(n / 4, 2) + (n % 4 != 0)) << n;
        EXPECT_EQ(one.sectors("st"), 1u) << n;
        EXPECT_EQ(one.sectors("atom"), 0u) << n;
    }
}

TEST(Lesson33, has_the_same_bits_in_every_order) {
    expect_success(
        "./emulate --schedules 5 ./lesson33 --verify --repeat 2",
        {"--n 20011 --offset 1", "--n 9001 --kernel reduce --offset 3", "--n 150001 --kernel reduce"});
}

} // namespace lesson33_counters

#include "emulator/machine/occupancy.hpp"

#include <gtest/gtest.h>

using namespace emulator;

TEST(Occupancy, is_limited_by_threads) {
    EXPECT_EQ(resident_blocks(1024, 0), 2u); // 2048 threads a multiprocessor
    EXPECT_EQ(resident_blocks(256, 0), 8u);
    EXPECT_EQ(resident_blocks(96, 0), 21u); // 2048 / 96 = 21.3
    EXPECT_EQ(resident_blocks(65, 0), 21u); // whole warps: 65 threads take the place of 96
}

TEST(Occupancy, is_limited_by_blocks) {
    EXPECT_EQ(resident_blocks(64, 0), 32u);
    EXPECT_EQ(resident_blocks(1, 0), 32u);
}

// 228 KiB per multiprocessor. Each block takes 1 KiB more than it requests, in units of 128 bytes.
TEST(Occupancy, is_limited_by_shared_memory) {
    EXPECT_EQ(resident_blocks(32, 227 * 1024), 1u);
    EXPECT_EQ(resident_blocks(32, 113 * 1024), 2u); // 2 x 114 = 228
    EXPECT_EQ(resident_blocks(32, 113 * 1024 + 1), 1u);
    EXPECT_EQ(resident_blocks(256, 48 * 1024), 4u); // 228 / 49 = 4.7
}

TEST(Occupancy, is_zero_for_what_does_not_fit) {
    EXPECT_EQ(resident_blocks(1025, 0), 0u);
    EXPECT_EQ(resident_blocks(0, 0), 0u);
    EXPECT_EQ(resident_blocks(32, 227 * 1024 + 1), 0u);
}

TEST(Occupancy, gives_the_shared_memory_that_keeps_it) {
    for (std::uint32_t blocks = 1; blocks <= 32; ++blocks) {
        EXPECT_GE(resident_blocks(32, shared_bytes_for(blocks)), blocks);
        EXPECT_LT(resident_blocks(32, shared_bytes_for(blocks) + 1), blocks);
    }
    EXPECT_EQ(shared_bytes_for(1), 227u * 1024);
    EXPECT_EQ(shared_bytes_for(33), 0u);
}

#include <gmock/gmock.h>

#include "gmem_smem_counters.hpp"

namespace gmem_smem_counters {

// Those of reduceGmemUnroll are not published; the throughputs beside them, 989.55 and 351.55 GB/s, have the
// ratio of 228 and 81.
TEST(Lesson11PublishedSectors, are_reproduced_to_the_digit) {
    expect_published_sectors({
        {"lesson11", "reduceGmem", 6'553'600, 3'211'264},
        {"lesson11", "reduceSmem", 2'097'152, 65'536},
        {"lesson11", "reduceGmemUnroll", 3'735'552, 1'327'104},
        {"lesson11", "reduceSmemUnroll", 2'097'152, 16'384},
    });
}

// reduceGmemUnroll: first 4 loads and 1 store by every warp, of 4 sectors each, then the tree of reduceGmem.
//     B = 256: 8 x 16 + 100 = 228 and 8 x 4 + 49 = 81; 8 x 4 + 25 = 57 and 8 + 13 = 21 requests
//     B = 128: 4 x 16 + 68 = 132 and 4 x 4 + 33 = 49; 16 + 17 = 33 and 4 + 9 = 13 requests
//
// Tails.
//   1000 ints: a full block of 512, and one of 488 = 3 x 128 + 104, whose fourth load is 3 x 4 + 1 sectors:
//     132 + 3 x 16 + 13 + 68 = 261 and 2 x 49 = 98; 2 x 33 and 2 x 13 requests
//   612 ints: the second block has 100, in 3 x 4 + 1 = 13 sectors. Stride 64 has 36 partners: 10 and 5
//     sectors.
//       132 + 13 + 10 + 51 + 1 = 207    49 + 13 + 5 + 24 + 1 = 92
//       requests 33 + 4 + 17 = 54 and 13 + 13 = 26
//   65 ints, one block: 4 + 4 + 1 + 35 = 44, 4 + 18 = 22; requests 3 + 11 = 14 and 1 + 6 = 7.
TEST(Lesson11GmemAndSmemCounters, follow_from_the_access_pattern) {
    expect_counters({
        // clang-format off
    {"lesson11", "reduceGmemUnroll", mega, 256, few, few * Traffic{228, 81}, few * Traffic{57, 21}, none, 3},
    {"lesson11", "reduceSmemUnroll", mega, 256, few, {131'072, few}, {32'768, few}, sequential_256, 3},
    {"lesson11", "reduceGmemUnroll", 1000, 128, 2, {261, 98}, {66, 26}, none, 2},
    {"lesson11", "reduceSmemUnroll", 1000, 128, 2, {125, 2}, {32, 2}, sequential_128, 2},
    {"lesson11", "reduceGmemUnroll", 612, 128, 2, {207, 92}, {54, 26}, none, 2},
    {"lesson11", "reduceSmemUnroll", 612, 128, 2, {77, 2}, {20, 2}, sequential_128, 2},
    {"lesson11", "reduceGmemUnroll", 65, 32, 1, {44, 22}, {14, 7}, none, 1},
    {"lesson11", "reduceSmemUnroll", 65, 32, 1, {9, 1}, {3, 1}, of_32, 1},
        // clang-format on
    });
}

TEST(Lesson11Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson11", "reduceGmemUnroll", 1024},
        {"lesson11", "reduceSmemUnroll", 1024},
    });
}

TEST(Lesson11, prepares_every_run_anew) {
    const ProgramResult result = run_lesson("lesson11", "--n 100003 --repeat 3 --verify");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, testing::Not(testing::HasSubstr("WRONG")));
}

} // namespace gmem_smem_counters

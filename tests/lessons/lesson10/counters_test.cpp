#include <gmock/gmock.h>

#include "gmem_smem_counters.hpp"

namespace gmem_smem_counters {

TEST(Lesson10PublishedSectors, are_reproduced_to_the_digit) {
    expect_published_sectors({
        {"lesson10", "reduceGmem", 6'553'600, 3'211'264},
        {"lesson10", "reduceSmem", 2'097'152, 65'536},
    });
}

// reduceGmem, a full block of B = 256. `w + w` are the sectors of the words i and of the words i + stride.
//     stride      128      64      32     16     8      4      2      1    data[0]
//     warps         4       2       1      1     1      1      1      1       1
//     loads    4 x (4+4) 2 x (4+4) 4+4    4+4   4+4    4+5    4+5    4+5      1
//                = 32      = 16    = 8    = 8   = 8    = 9    = 9    = 9    = 1      100
//     stores    4 x 4     2 x 4     4      4     4      4      4      4       -       48, and the partial
//                                                                                     sum: 49
//   From stride 32 on all 32 lanes of warp 0 take part. Their words i + 4, i + 2 and i + 1 begin off a
//   sector's boundary, and 128 bytes from there touch five.
//     requests: loads 2 x (4 + 2 + 6) + 1 = 25, stores 4 + 2 + 6 + 1 = 13
//   B = 128: without the first step. 16 + 51 + 1 = 68 and 8 + 24 + 1 = 33; 2 x (2 + 6) + 1 = 17 and 9
//   requests.
//   B = 32: no stride above 16, and a lane whose partner would lie in the next block does nothing.
//     stride       16     8      4      2      1
//     lanes        16    24     28     30     31
//     loads       2+2   3+3    4+4    4+4    4+4    35 with data[0]: words 0 to 23 are 3 sectors, 8 to 31 too
//     stores        2     3      4      4      4    18 with the partial sum
//     requests: loads 2 x 5 + 1 = 11, stores 5 + 1 = 6
//
// reduceNeighboredGmem: with stride s the lanes are 2s words apart.
//   B = 256    stride      1    2    4    8   16   32   64  128   data[0]
//              warps       8    8    8    8    8    4    2    1     1
//              sectors   4+4  4+4  4+4  2+2  1+1  1+1  1+1  1+1     1
//              loads      64   64   64   32   16    8    4    2     1     255
//              stores     32   32   32   16    8    4    2    1     -     127, and the partial sum: 128
//     requests: loads 2 x (5 x 8 + 4 + 2 + 1) + 1 = 95, stores 47 + 1 = 48
//   B = 128: half of each, without stride 128.  3 x 32 + 16 + 8 + 4 + 2 + 1 = 127 and 63 + 1 = 64;
//     2 x (5 x 4 + 2 + 1) + 1 = 47 and 24 requests
//   B = 32: 3 x 8 + 4 + 2 + 1 = 31 and 15 + 1 = 16; 11 and 6 requests
//
// Tails.
//   1000 ints in blocks of 128: seven full ones, and one of 104.
//     reduceGmem: stride 64 has 40 partners: warp 0 as before, and 8 lanes of warp 1, words 32 to 39 and 96
//     to 103: 8 + 2 = 10 and 4 + 1 = 5 sectors, in as many requests as before. The last warp is full.
//       7 x 68 + 10 + 51 + 1 = 538    7 x 33 + 5 + 24 + 1 = 261    requests 8 x 17 = 136 and 8 x 9 = 72
//     reduceNeighboredGmem: warp 3 has 8 elements, words 96 to 103.
//       stride           1       2       4       8      16      32     64   data[0]
//       warps            4       4       4       3       3       2      1      1
//       loads         3x8+2   3x8+2   3x8+2     3x4     3x2     2x2     2      1    103
//       stores        3x4+1   3x4+1   3x4+1     3x2     3x1      2      1      -     51, and the partial
//                                                                                    sum: 52
//       7 x 127 + 103 = 992    7 x 64 + 52 = 500
//       requests 7 x 47 + 2 x 21 + 1 = 372 and 7 x 24 + 22 = 190
//   65 ints in blocks of 32: two full ones, and one of one int, which loads it and stores it.
//     reduceGmem: 2 x 35 + 1 = 71, 2 x 18 + 1 = 37; requests 23 and 13.
//     reduceNeighboredGmem: 2 x 31 + 1 = 63, 2 x 16 + 1 = 33; requests 23 and 13.
TEST(Lesson10GmemAndSmemCounters, follow_from_the_access_pattern) {
    expect_counters({
        // clang-format off
    {"lesson10", "reduceNeighboredGmem", mega, 256, many, many * Traffic{255, 128}, many * Traffic{95, 48}, none, 8},
    {"lesson10", "reduceNeighboredSmem", mega, 256, many, {131'072, many}, {32'768, many}, neighbored_256, 9},
    {"lesson10", "reduceGmem", mega, 256, many, many * Traffic{100, 49}, many * Traffic{25, 13}, none, 2},
    {"lesson10", "reduceSmem", mega, 256, many, {131'072, many}, {32'768, many}, sequential_256, 3},
    {"lesson10", "reduceNeighboredGmem", 1000, 128, 8, {992, 500}, {372, 190}, none, 7},
    {"lesson10", "reduceNeighboredSmem", 1000, 128, 8, {125, 8}, {32, 8}, neighbored_128, 8},
    {"lesson10", "reduceGmem", 1000, 128, 8, {538, 261}, {136, 72}, none, 1},
    {"lesson10", "reduceSmem", 1000, 128, 8, {125, 8}, {32, 8}, sequential_128, 2},
    {"lesson10", "reduceNeighboredGmem", 65, 32, 3, {63, 33}, {23, 13}, none, 5},
    {"lesson10", "reduceNeighboredSmem", 65, 32, 3, {9, 3}, {3, 3}, of_32, 6},
    {"lesson10", "reduceGmem", 65, 32, 3, {71, 37}, {23, 13}, none, 0},
    {"lesson10", "reduceSmem", 65, 32, 3, {9, 3}, {3, 3}, of_32, 1},
        // clang-format on
    });
}

TEST(Lesson10Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson10", "reduceNeighboredGmem", 48 * 4096},
        {"lesson10", "reduceNeighboredSmem", 48 * 4096},
        {"lesson10", "reduceGmem", 4096},
        {"lesson10", "reduceSmem", 4096},
    });
}

// The transactions that are published for a Quadro P2000: stores are counted as sectors there. The size of
// its input is not published; this is the one that fits (33 for a block of 128, as below).
TEST(Lesson10PublishedTransactions, of_stores_are_reproduced_to_the_digit) {
    EXPECT_EQ(Launch("lesson10", "reduceGmem", arguments(4'194'304, 128)).sectors("st"), 1'081'344u);
    EXPECT_EQ(Launch("lesson10", "reduceSmem", arguments(4'194'304, 128)).sectors("st"), 32'768u);
}

TEST(Lesson10, prepares_every_run_anew) {
    const ProgramResult result = run_lesson("lesson10", "--n 100003 --repeat 3 --verify");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, testing::Not(testing::HasSubstr("WRONG")));
}

} // namespace gmem_smem_counters

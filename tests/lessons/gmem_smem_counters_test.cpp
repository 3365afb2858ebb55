// The counters of lessons 10 to 12, to the digit: first as published, then as they follow from each kernel's
// access pattern. (What is counted, and where: see counters_test.cpp.)
//
// Global memory. A lane's int is 4 bytes, a sector 8 ints, and every block of data begins on a boundary.
//
// reduceGmem, a full block of B = 256. `w + w` are the sectors of the words i and of the words i + stride.
//     stride      128      64      32     16     8      4      2      1    data[0]
//     warps         4       2       1      1     1      1      1      1       1
//     loads    4 x (4+4) 2 x (4+4) 4+4    4+4   4+4    4+5    4+5    4+5      1
//                = 32      = 16    = 8    = 8   = 8    = 9    = 9    = 9    = 1      100
//     stores    4 x 4     2 x 4     4      4     4      4      4      4       -       48, and the partial
//     sum: 49
//   From stride 32 on all 32 lanes of warp 0 take part. Their words i + 4, i + 2 and i + 1 begin off a
//   sector's boundary, and 128 bytes from there touch five.
//     requests: loads 2 x (4 + 2 + 6) + 1 = 25, stores 4 + 2 + 6 + 1 = 13
//   B = 128: without the first step. 16 + 51 + 1 = 68 and 8 + 24 + 1 = 33; 2 x (2 + 6) + 1 = 17 and 9
//   requests. B = 32: no stride above 16, and a lane whose partner would lie in the next block does nothing.
//     stride       16     8      4      2      1
//     lanes        16    24     28     30     31
//     loads       2+2   3+3    4+4    4+4    4+4    35 with data[0]: words 0 to 23 are 3 sectors, 8 to 31 too
//     stores        2     3      4      4      4    18 with the partial sum
//     requests: loads 2 x 5 + 1 = 11, stores 5 + 1 = 6
//
// reduceGmemUnroll: first 4 loads and 1 store by every warp, of 4 sectors each, then the tree of reduceGmem.
//     B = 256: 8 x 16 + 100 = 228 and 8 x 4 + 49 = 81; 8 x 4 + 25 = 57 and 8 + 13 = 21 requests
//     B = 128: 4 x 16 + 68 = 132 and 4 x 4 + 33 = 49; 16 + 17 = 33 and 4 + 9 = 13 requests
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
// The kernels in shared memory load every int once, ceil(4n / 32) sectors in ceil(n / 32) requests, and store
// one int a block.
//
// Shared memory, of W = B / 32 warps; A = the sum, over all steps, of the warps that add. No step has a
// conflict: S = A. The elements are W stores; a step loads twice and stores once; thread 0 loads shared[0].
// So 2 A + 1 wavefronts of loads, W + A of stores.
//     neighbored   B = 256: A = 5 x 8 + 4 + 2 + 1 = 47    95 and 55     B = 128: 5 x 4 + 2 + 1 = 23   47 and
//     27 sequential    B = 256: A = 4 + 2 + 6 = 12            25 and 20     B = 128: 2 + 6 = 8            17
//     and 12 both          B = 32: A = 5, as in reduceGmem        11 and 6
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
//       stores        3x4+1   3x4+1   3x4+1     3x2     3x1      2      1      -     51, and the partial sum:
//       52 7 x 127 + 103 = 992    7 x 64 + 52 = 500    requests 7 x 47 + 2 x 21 + 1 = 372 and 7 x 24 + 22 =
//       190
//     reduceGmemUnroll: a full block of 512, and one of 488 = 3 x 128 + 104, whose fourth load is 3 x 4 + 1
//     sectors: 132 + 3 x 16 + 13 + 68 = 261 and 2 x 49 = 98; 2 x 33 and 2 x 13 requests
//   612 ints: the second block of reduceGmemUnroll has 100, in 3 x 4 + 1 = 13 sectors. Stride 64 has 36
//     partners: 10 and 5 sectors.
//       132 + 13 + 10 + 51 + 1 = 207    49 + 13 + 5 + 24 + 1 = 92    requests 33 + 4 + 17 = 54 and 13 + 13 =
//       26
//   65 ints in blocks of 32: two full ones, and one of one int, which loads it and stores it.
//     reduceGmem: 2 x 35 + 1 = 71, 2 x 18 + 1 = 37; requests 23 and 13.
//     reduceNeighboredGmem: 2 x 31 + 1 = 63, 2 x 16 + 1 = 33; requests 23 and 13.
//     reduceGmemUnroll, one block: 4 + 4 + 1 + 35 = 44, 4 + 18 = 22; requests 3 + 11 = 14 and 1 + 6 = 7.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "launch.hpp"

namespace gmem_smem_counters_test {

constexpr std::uint64_t published_n = 16'777'216;

// The sectors that are published for an RTX 3080. Those of reduceGmemUnroll are not; the throughputs beside
// them, 989.55 and 351.55 GB/s, have the ratio of 228 and 81.
TEST(PublishedSectors, are_reproduced_to_the_digit) {
    const struct {
        const char* lesson;
        const char* kernel;
        std::uint64_t loads, stores;
    } published[] = {
        {"lesson10", "reduceGmem", 6'553'600, 3'211'264},
        {"lesson10", "reduceSmem", 2'097'152, 65'536},
        {"lesson11", "reduceGmem", 6'553'600, 3'211'264},
        {"lesson11", "reduceSmem", 2'097'152, 65'536},
        {"lesson11", "reduceGmemUnroll", 3'735'552, 1'327'104},
        {"lesson11", "reduceSmemUnroll", 2'097'152, 16'384},
        {"lesson12", "reduceSmem", 2'097'152, 65'536},
        {"lesson12", "reduceSmemDyn", 2'097'152, 65'536},
        {"lesson12", "reduceSmemUnroll", 2'097'152, 16'384},
        {"lesson12", "reduceSmemUnrollDyn", 2'097'152, 16'384},
    };
    for (const auto& [lesson, kernel, loads, stores] : published) {
        SCOPED_TRACE(std::string(lesson) + " " + kernel);
        const Launch launch(lesson, kernel, arguments(published_n, 256));
        EXPECT_EQ(launch.sectors("ld"), loads);
        EXPECT_EQ(launch.sectors("st"), stores);
    }
}

// The transactions that are published for a Quadro P2000: stores are counted as sectors there. The size of
// its input is not published; this is the one that fits (33 for a block of 128, as below).
TEST(PublishedTransactions, of_stores_are_reproduced_to_the_digit) {
    EXPECT_EQ(Launch("lesson10", "reduceGmem", arguments(4'194'304, 128)).sectors("st"), 1'081'344u);
    EXPECT_EQ(Launch("lesson10", "reduceSmem", arguments(4'194'304, 128)).sectors("st"), 32'768u);
}

struct Traffic {
    std::uint64_t loads, stores;
};

struct Case {
    const char* lesson;
    const char* kernel;
    std::uint64_t n;
    unsigned int block;
    std::uint64_t blocks;
    Traffic sectors, requests; // of all blocks
    Traffic wavefronts;        // of one block
    std::uint64_t barriers;    // that each thread comes to
    friend void PrintTo(const Case& c, std::ostream* out) {
        *out << c.kernel << ", n = " << c.n << ", block " << c.block;
    }
};

/// The same for each of `blocks` blocks.
constexpr Traffic operator*(std::uint64_t blocks, Traffic one) {
    return {blocks * one.loads, blocks * one.stores};
}

class GmemAndSmemCounters : public testing::TestWithParam<Case> {};

TEST_P(GmemAndSmemCounters, follow_from_the_access_pattern) {
    const Case& expected = GetParam();
    const Launch launch(expected.lesson, expected.kernel, arguments(expected.n, expected.block));
    EXPECT_EQ(launch.blocks(), expected.blocks);
    EXPECT_EQ(launch.sectors("ld"), expected.sectors.loads);
    EXPECT_EQ(launch.sectors("st"), expected.sectors.stores);
    EXPECT_EQ(launch.requests("ld"), expected.requests.loads);
    EXPECT_EQ(launch.requests("st"), expected.requests.stores);
    EXPECT_EQ(launch.wavefronts("ld"), expected.blocks * expected.wavefronts.loads);
    EXPECT_EQ(launch.wavefronts("st"), expected.blocks * expected.wavefronts.stores);
    EXPECT_EQ(launch.conflicts("ld"), 0u);
    EXPECT_EQ(launch.conflicts("st"), 0u);
    EXPECT_EQ(launch.sectors("atom"), 0u);
    EXPECT_EQ(launch.sectors("red"), 0u);
    // Including threads without an element: one that returned early would be missing here.
    EXPECT_EQ(launch.counter("ptx__thread_inst_executed_op_bar"),
              expected.blocks * expected.block * expected.barriers);
}

constexpr Traffic none{0, 0};
constexpr Traffic neighbored_256{95, 55}, neighbored_128{47, 27};
constexpr Traffic sequential_256{25, 20}, sequential_128{17, 12};
constexpr Traffic of_32{11, 6};

// 2^24 ints: 2,097,152 sectors and 524,288 requests; 65,536 blocks of 256, or 16,384 of four times as many.
constexpr std::uint64_t n24 = published_n, many = n24 / 256, few = many / 4;

INSTANTIATE_TEST_SUITE_P(
    Lessons, GmemAndSmemCounters,
    testing::Values(
        // clang-format off
        Case{"lesson10", "reduceNeighboredGmem", n24, 256, many, many * Traffic{255, 128}, many * Traffic{95, 48}, none, 8},
        Case{"lesson10", "reduceNeighboredSmem", n24, 256, many, {2'097'152, many}, {524'288, many}, neighbored_256, 9},
        Case{"lesson10", "reduceGmem", n24, 256, many, many * Traffic{100, 49}, many * Traffic{25, 13}, none, 2},
        Case{"lesson10", "reduceSmem", n24, 256, many, {2'097'152, many}, {524'288, many}, sequential_256, 3},
        Case{"lesson11", "reduceGmemUnroll", n24, 256, few, few * Traffic{228, 81}, few * Traffic{57, 21}, none, 3},
        Case{"lesson11", "reduceSmemUnroll", n24, 256, few, {2'097'152, few}, {524'288, few}, sequential_256, 3},
        Case{"lesson12", "reduceSmemDyn", n24, 256, many, {2'097'152, many}, {524'288, many}, sequential_256, 3},
        Case{"lesson12", "reduceSmemUnrollDyn", n24, 256, few, {2'097'152, few}, {524'288, few}, sequential_256, 3},

        Case{"lesson10", "reduceNeighboredGmem", 1000, 128, 8, {992, 500}, {372, 190}, none, 7},
        Case{"lesson10", "reduceNeighboredSmem", 1000, 128, 8, {125, 8}, {32, 8}, neighbored_128, 8},
        Case{"lesson10", "reduceGmem", 1000, 128, 8, {538, 261}, {136, 72}, none, 1},
        Case{"lesson10", "reduceSmem", 1000, 128, 8, {125, 8}, {32, 8}, sequential_128, 2},
        Case{"lesson11", "reduceGmemUnroll", 1000, 128, 2, {261, 98}, {66, 26}, none, 2},
        Case{"lesson11", "reduceSmemUnroll", 1000, 128, 2, {125, 2}, {32, 2}, sequential_128, 2},
        Case{"lesson12", "reduceSmemDyn", 1000, 128, 8, {125, 8}, {32, 8}, sequential_128, 2},
        Case{"lesson12", "reduceSmemUnrollDyn", 1000, 128, 2, {125, 2}, {32, 2}, sequential_128, 2},

        Case{"lesson11", "reduceGmemUnroll", 612, 128, 2, {207, 92}, {54, 26}, none, 2},
        Case{"lesson11", "reduceSmemUnroll", 612, 128, 2, {77, 2}, {20, 2}, sequential_128, 2},
        Case{"lesson12", "reduceSmemUnrollDyn", 612, 128, 2, {77, 2}, {20, 2}, sequential_128, 2},

        Case{"lesson10", "reduceNeighboredGmem", 65, 32, 3, {63, 33}, {23, 13}, none, 5},
        Case{"lesson10", "reduceNeighboredSmem", 65, 32, 3, {9, 3}, {3, 3}, of_32, 6},
        Case{"lesson10", "reduceGmem", 65, 32, 3, {71, 37}, {23, 13}, none, 0},
        Case{"lesson10", "reduceSmem", 65, 32, 3, {9, 3}, {3, 3}, of_32, 1},
        Case{"lesson11", "reduceGmemUnroll", 65, 32, 1, {44, 22}, {14, 7}, none, 1},
        Case{"lesson11", "reduceSmemUnroll", 65, 32, 1, {9, 1}, {3, 1}, of_32, 1},
        Case{"lesson12", "reduceSmemDyn", 65, 32, 3, {9, 3}, {3, 3}, of_32, 1},
        Case{"lesson12", "reduceSmemUnrollDyn", 65, 32, 1, {9, 1}, {3, 1}, of_32, 1}),
    // clang-format on
    [](const auto& info) {
        const Case& c = info.param;
        return std::string(c.lesson) + "_" + c.kernel + "_n_" + std::to_string(c.n) + "_block_" +
               std::to_string(c.block);
    });

// Where a warp of B = 256 splits, when n fills all blocks.
//   neighbored: in all 47 warps that have adders, and at tid == 0
//   sequential: at tid == 0 alone. The guards split none, and the last warp's lanes stay together.
TEST(GmemAndSmemDivergence, follows_from_the_conditions) {
    const struct {
        const char* lesson;
        const char* kernel;
        std::uint64_t expected;
    } cases[] = {{"lesson10", "reduceNeighboredGmem", 48 * 4096},
                 {"lesson10", "reduceNeighboredSmem", 48 * 4096},
                 {"lesson10", "reduceGmem", 4096},
                 {"lesson10", "reduceSmem", 4096},
                 {"lesson11", "reduceGmemUnroll", 1024},
                 {"lesson11", "reduceSmemUnroll", 1024},
                 {"lesson12", "reduceSmemDyn", 4096},
                 {"lesson12", "reduceSmemUnrollDyn", 1024}};
    for (const auto& [lesson, kernel, expected] : cases) {
        EXPECT_EQ(Launch(lesson, kernel, arguments(1 << 20, 256))
                      .counter("smsp__sass_branch_targets_threads_divergent"),
                  expected)
            << kernel;
    }
}

// Whether the compiler or the launch determines the array's size makes no difference to any counter.
TEST(DynamicSharedMemory, has_all_the_counters_of_static_shared_memory) {
    const auto counters = [](const char* kernel) {
        const Launch launch("lesson12", kernel, arguments(100'003, 128));
        std::vector<std::uint64_t> values;
        for (const char* operation : {"ld", "st"}) {
            values.insert(values.end(), {launch.sectors(operation), launch.requests(operation),
                                         launch.wavefronts(operation), launch.conflicts(operation)});
        }
        for (const char* name : {"smsp__inst_executed", "smsp__thread_inst_executed",
                                 "smsp__sass_branch_targets_threads_divergent"})
            values.push_back(launch.counter(name));
        return values;
    };
    EXPECT_EQ(counters("reduceSmemDyn"), counters("reduceSmem"));
    EXPECT_EQ(counters("reduceSmemUnrollDyn"), counters("reduceSmemUnroll"));
}

// What lesson 12's page reports of the launch: the bytes only if they are dynamic.
TEST(DynamicSharedMemory, is_asked_for_by_the_launch) {
    const ProgramResult result = run_lesson("lesson12", "--n 1000 --block 512 --format json");
    ASSERT_EQ(result.status, 0) << result.err;
    const nlohmann::json kernels = nlohmann::json::parse(result.out)["kernels"];
    ASSERT_EQ(kernels.size(), 4u);
    for (const nlohmann::json& kernel : kernels) {
        const bool is_dynamic = kernel["name"].get<std::string>().ends_with("Dyn");
        EXPECT_EQ(kernel["dynamic_shared_bytes"], is_dynamic ? 2048 : 0) << kernel["name"];
    }
}

TEST(InPlaceInput, is_restored_before_each_run) {
    for (const char* lesson : {"lesson10", "lesson11"}) {
        const ProgramResult result = run_lesson(lesson, "--n 100003 --repeat 3 --verify");
        EXPECT_EQ(result.status, 0) << result.err;
        EXPECT_THAT(result.out, testing::Not(testing::HasSubstr("WRONG")));
    }
}

} // namespace gmem_smem_counters_test

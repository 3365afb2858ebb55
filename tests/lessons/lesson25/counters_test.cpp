// The counters of lesson 25, to the digit, as they follow from each kernel's access pattern, and the
// program's output.
//
// R rows of C elements, blocks of W warps. A sector has 8 elements.
//   thread   a request per column for 32 rows. Lanes load C elements apart: from 8 on each in its own sector.
//            The sums are stored by neighboring lanes.
//   warp     ceil(C / 32) requests per row, and one to store its sum.
//   block    as many: warps take 32 neighboring elements in turn, and one that gets none makes no request.
//            In shared memory W warps store their sums, and one warp loads them in one wavefront.
//   softmax  the loads of `block` three times or twice, and its stores as many as one of these. Each of W
//            warps stores two floats, maximum and sum, in a wavefront each, and loads those of all warps.
//
// 64 rows of 96, W = 2: rows begin at sectors. 3 requests per row, 64 x 3 = 192, of 4 sectors: 768.
//   thread   2 warps load 96 times: 192 requests of 32 sectors, 6,144. 64 sums are 2 requests, 8 sectors.
//   shared   block 2 x 64 = 128 stored, 64 loaded. Softmax 2 x 2 x 64 = 256 each.
//
// 31 rows of 33, W = 2: row r begins at element 33 r, which is r % 8 elements into a sector. Its first 32
// elements are 4 sectors for r = 0, 8, 16, 24 and 5 sectors for the 27 others: 4 x 4 + 27 x 5 = 151. With 31
// for the last ones: 182, in 62 requests.
//   thread   one warp of 31 lanes: 33 requests of 31 sectors, 1,023. 31 sums are 4 sectors.
//   shared   block 2 x 31 = 62 and 31. Softmax 2 x 2 x 31 = 124.
//
// 64 rows of 3, W = 8: row r begins 3 r % 8 elements into a sector, which takes all values from 0 to 7 in
// eight rows. From 6 or 7 on three elements are 2 sectors: 6 x 1 + 2 x 2 = 10 in eight rows, 80 in 64.
//   thread   a request is 32 elements, 3 apart: 96 elements, all of their 12 sectors. 2 x 3 requests, 72.
//   shared   block 8 x 64 = 512 and 64. Softmax 8 x 2 x 64 = 1,024.
//
// 100 rows of 1, W = 1: 4 requests of neighboring ints, 100 / 8 = 12.5, so 13 sectors. Else one of each per
// row.
//
// 1 row of 4,099, W = 32: 128 requests of 4 sectors and one of 3 elements: 129 requests, 513 sectors.
//   thread   one lane: 4,099 of each.
//   shared   block 32 and 1. Softmax 32 x 2 = 64.
//
// 1 row of 1: one of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>

#include "launch.hpp"

namespace lesson25_counters {

using testing::AllOf, testing::HasSubstr, testing::Not;

struct Case {
    const char* kernel;
    const char* arguments;
    std::uint64_t load_requests, load_sectors, store_requests, store_sectors;
    std::uint64_t shared_stores = 0, shared_loads = 0; // wavefronts
    friend void PrintTo(const Case& c, std::ostream* out) { *out << c.kernel << c.arguments; }
};

constexpr const char *whole = " --rows 64 --columns 96 --block 64",
                     *odd = " --rows 31 --columns 33 --block 64", *three = " --rows 64 --columns 3",
                     *one_column = " --rows 100 --columns 1 --block 32",
                     *one_row = " --rows 1 --columns 4099 --block 1024",
                     *one = " --rows 1 --columns 1 --block 32";

const Case cases[] = {
    {"rows_by_thread", whole, 192, 6'144, 2, 8},
    {"rows_by_warp", whole, 192, 768, 64, 64},
    {"rows_by_block", whole, 192, 768, 64, 64, 128, 64},
    {"softmax_three_passes", whole, 3 * 192, 3 * 768, 192, 768, 256, 256},
    {"softmax_online", whole, 2 * 192, 2 * 768, 192, 768, 256, 256},
    {"rows_by_thread", odd, 33, 1'023, 1, 4},
    {"rows_by_warp", odd, 62, 182, 31, 31},
    {"rows_by_block", odd, 62, 182, 31, 31, 62, 31},
    {"softmax_three_passes", odd, 3 * 62, 3 * 182, 62, 182, 124, 124},
    {"softmax_online", odd, 2 * 62, 2 * 182, 62, 182, 124, 124},
    {"rows_by_thread", three, 6, 72, 2, 8},
    {"rows_by_warp", three, 64, 80, 64, 64},
    {"rows_by_block", three, 64, 80, 64, 64, 512, 64},
    {"softmax_three_passes", three, 3 * 64, 3 * 80, 64, 80, 1'024, 1'024},
    {"softmax_online", three, 2 * 64, 2 * 80, 64, 80, 1'024, 1'024},
    {"rows_by_thread", one_column, 4, 13, 4, 13},
    {"rows_by_warp", one_column, 100, 100, 100, 100},
    {"rows_by_block", one_column, 100, 100, 100, 100, 100, 100},
    {"softmax_three_passes", one_column, 300, 300, 100, 100, 200, 200},
    {"softmax_online", one_column, 200, 200, 100, 100, 200, 200},
    {"rows_by_thread", one_row, 4'099, 4'099, 1, 1},
    {"rows_by_warp", one_row, 129, 513, 1, 1},
    {"rows_by_block", one_row, 129, 513, 1, 1, 32, 1},
    {"softmax_three_passes", one_row, 3 * 129, 3 * 513, 129, 513, 64, 64},
    {"softmax_online", one_row, 2 * 129, 2 * 513, 129, 513, 64, 64},
    {"rows_by_thread", one, 1, 1, 1, 1},
    {"rows_by_warp", one, 1, 1, 1, 1},
    {"rows_by_block", one, 1, 1, 1, 1, 1, 1},
    {"softmax_three_passes", one, 3, 3, 1, 1, 2, 2},
    {"softmax_online", one, 2, 2, 1, 1, 2, 2},
};

TEST(Lesson25Rows, have_the_counters_that_follow_from_the_access_pattern) {
    for (const Case& expected : cases) {
        SCOPED_TRACE(testing::PrintToString(expected));
        const Launch launch("lesson25", expected.kernel, expected.arguments);
        EXPECT_EQ(launch.requests("ld"), expected.load_requests);
        EXPECT_EQ(launch.sectors("ld"), expected.load_sectors);
        EXPECT_EQ(launch.requests("st"), expected.store_requests);
        EXPECT_EQ(launch.sectors("st"), expected.store_sectors);
        EXPECT_EQ(launch.wavefronts("st"), expected.shared_stores);
        EXPECT_EQ(launch.wavefronts("ld"), expected.shared_loads);
        EXPECT_EQ(launch.conflicts("st") + launch.conflicts("ld"), 0u);
    }
}

nlohmann::json report(const std::string& arguments) {
    const ProgramResult result = run_program("./lesson25 --device emulator --format json" + arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out);
}

TEST(Lesson25RowsProgram, tells_the_matrix_and_the_launches) {
    const nlohmann::json all = report(" --rows 1001 --columns 37 --block 128 --seed 5");
    EXPECT_EQ(all["elements"], 1001 * 37);
    EXPECT_EQ(all["options"], (nlohmann::json{{"--rows", 1001}, {"--columns", 37}}));
    ASSERT_EQ(all["kernels"].size(), 5u);
    // 1,001 threads, 1,001 warps of which 4 fit a block, 1,001 blocks
    const int grids[] = {8, 251, 1001, 1001, 1001};
    for (std::size_t i = 0; i < 5; ++i) {
        const nlohmann::json& kernel = all["kernels"][i];
        EXPECT_EQ(kernel["verified"], true);
        EXPECT_EQ(kernel["grid"], nlohmann::json::array({grids[i], 1, 1})) << kernel["name"];
        EXPECT_EQ(kernel["block"], nlohmann::json::array({128, 1, 1}));
        // The ints and the sums are moved once; of the floats as many are stored as loaded.
        EXPECT_EQ(kernel["bytes"], 4 * (i < 3 ? 1001 * 37 + 1001 : 2 * 1001 * 37));
        if (i >= 3) {
            EXPECT_EQ(kernel["actual"], 1001 * 37); // elements that are right
        }
    }
}

TEST(Lesson25RowsProgram, has_another_matrix_for_another_seed) {
    const auto last = [](const std::string& seed) {
        return report(" --kernel rows_by_warp --rows 3 --columns 3 --seed " + seed)["kernels"][0]["actual"];
    };
    EXPECT_EQ(last("5"), last("5"));
    EXPECT_NE(last("5"), last("6"));
}

TEST(Lesson25RowsProgram, takes_rows_columns_and_a_block_and_no_n) {
    EXPECT_THAT(run_program("./lesson25 --help").out,
                AllOf(HasSubstr("--rows R"), HasSubstr("--columns C"), HasSubstr("--block B"),
                      HasSubstr("--seed S"), Not(HasSubstr("--n "))));
    for (const auto& [arguments, message] :
         {std::pair("--n 64",
                    "lesson25: --n: this lesson's own options set the size. It has --rows, --columns."),
          {"--columns 0", "lesson25: --columns 0: too small. Write a whole number from 1 to 4,294,967,296."},
          {"--rows 2147483648", "lesson25: --rows 2147483648: too large. Write"}}) {
        const ProgramResult result = run_program(std::string("./lesson25 --device emulator ") + arguments);
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.err, HasSubstr(message));
    }
}

TEST(Lesson25RowsProgram, says_so_if_the_matrix_does_not_fit) {
    // 2^31 - 1 rows of 2^32 elements: with 4 bytes each more than 64 bits can count.
    const ProgramResult result =
        run_program("./lesson25 --device emulator --rows 2147483647 --columns 4294967296");
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.err, HasSubstr("cudaErrorMemoryAllocation"));
}

TEST(Lesson25RowsProgram, is_clean_between_blocks_too) {
    expect_clean_between_blocks("lesson25",
                                {"--rows 1 --columns 1 --block 32", "--rows 67 --columns 33 --block 64",
                                 "--rows 9 --columns 1025", "--rows 300 --columns 2 --block 1024"});
}

} // namespace lesson25_counters

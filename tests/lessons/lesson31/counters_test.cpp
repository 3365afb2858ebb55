// The counters of lesson 31, to the digit, as they follow from each unit's access pattern; and what the program does
// with its options.
//
// A vector is 4 floats, half a sector; a request 32 vectors, 16 sectors if it starts at one.
//
// 1,000 rows of 1: 250 vectors, 250 / 32 = 7.8, so 8 requests; 125 sectors. 1,001 rows of 2: 500 vectors in 16
// requests and 250 sectors; the last two floats, one by one: 2 requests, 2 sectors.
//
// 100 rows of 96: 24 vectors, which take 16 lanes with 2 each. A warp has two rows, and a request 16 vectors of each,
// then 8: 2 x 50 requests. A row is 12 sectors.
//
// 10 rows of 1,024: 256 vectors, a warp with 8 each: 8 requests, 128 sectors per row. If they start at the second
// float: a head of 3, 255 vectors and a tail of 1. Head and tail are one request of 2 sectors. The vectors start in the
// middle of a sector: 7 requests of 17 sectors, and one of 31 vectors, 16. That is 9 requests, 2 + 7 x 17 + 16 = 137.
//
// 5 rows of 2,048: blocks of 2 warps. 2 x 8 requests, 256 sectors per row. Each warp stores its part of 8 bytes and
// loads those of all: 2 wavefronts of each per row.
//
// 1 row of 16,388: 16,388 / 8,192, so 3 blocks; 16,388 / (3 x 1,024), so 6 warps each. 4,097 vectors are 129 requests:
// 128 of 16 sectors, and one vector. 18 warps store their parts and load those of their block. Each block stores its
// part in its own memory, too: 18 + 3. Stores to another block's are in no counter. Then lanes of both half-warps load
// the blocks' parts of 8 bytes, a wavefront for each half: 18 + 2 x 18.
//
// 1 row of 300,000: 300,000 / 8,192, so 37 pieces, and a block for each. Of two launches, the second is counted. 36
// pieces are 64 requests each; 5,088 floats are 1,272 vectors, 40 requests: 2,344, and 300,000 / 8 = 37,500 sectors.
// Each block also loads 37 parts of 8 bytes: 32 of them, 8 sectors, and 5, 2 sectors.
//
// softmax_in_registers, 100 rows of 100: 4 requests per row. Even rows start at a sector: 4 + 4 + 4 + 1 = 13. Odd ones
// in the middle: 5 + 5 + 5 + 1 = 16. 50 x (13 + 16) = 1,450.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "launch.hpp"

namespace lesson31_counters {

using testing::AllOf, testing::HasSubstr;

struct Case {
    const char* kernel;
    const char* arguments;
    std::uint64_t load_requests, load_sectors, store_requests, store_sectors;
    std::uint64_t shared_stores = 0, shared_loads = 0; // wavefronts
};

const Case cases[] = {
    {"softmax", " --rows 1000 --columns 1", 8, 125, 8, 125},
    {"softmax", " --rows 1001 --columns 2", 18, 252, 18, 252},
    {"softmax", " --rows 100 --columns 96", 100, 1'200, 100, 1'200},
    {"softmax", " --rows 10 --columns 1024", 80, 1'280, 80, 1'280},
    {"softmax", " --rows 10 --columns 1024 --offset 1", 90, 1'370, 90, 1'370},
    {"softmax", " --rows 5 --columns 2048", 80, 1'280, 80, 1'280, 10, 10},
    {"softmax", " --rows 1 --columns 16388", 129, 2'049, 129, 2'049, 21, 54},
    {"softmax", " --rows 1 --columns 300000", 2'344 + 37 * 2, 37'500 + 37 * 10, 2'344, 37'500, 37 * 8,
     37 * 8},
    {"softmax_in_registers", " --rows 100 --columns 100", 400, 1'450, 400, 1'450},
};

TEST(Lesson31, has_the_counters_that_follow_from_the_access_pattern) {
    for (const Case& expected : cases) {
        SCOPED_TRACE(std::string(expected.kernel) + expected.arguments);
        const Launch launch("lesson31", expected.kernel, expected.arguments);
        EXPECT_EQ(launch.requests("ld"), expected.load_requests);
        EXPECT_EQ(launch.sectors("ld"), expected.load_sectors);
        EXPECT_EQ(launch.requests("st"), expected.store_requests);
        EXPECT_EQ(launch.sectors("st"), expected.store_sectors);
        EXPECT_EQ(launch.wavefronts("st"), expected.shared_stores);
        EXPECT_EQ(launch.wavefronts("ld"), expected.shared_loads);
    }
}

TEST(Lesson31, rejects_rows_that_are_too_long_for_a_unit) {
    for (const auto& [arguments, message] :
         {std::pair("--kernel softmax_in_registers --columns 1025",
                    "softmax_in_registers has rows of up to 1,024"),
          {"--kernel lanes --columns 1025", "--kernel lanes: the rows are too long for it."},
          {"--kernel cluster --rows 1 --columns 262145",
           "--kernel cluster: the rows are too long for it."}}) {
        const ProgramResult result = run_program(std::string("./lesson31 --device emulator ") + arguments);
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.err, HasSubstr(message));
    }
    EXPECT_THAT(run_program("./lesson31 --help").out, AllOf(HasSubstr("--units"), HasSubstr("--offset K")));
}

TEST(Lesson31, is_clean_between_blocks_too) {
    expect_clean_between_blocks("lesson31",
                                {"--rows 300 --columns 2", "--rows 9 --columns 1025 --units --offset 1",
                                 "--rows 2 --columns 30000", "--rows 2 --columns 270000 --kernel softmax"});
}

} // namespace lesson31_counters

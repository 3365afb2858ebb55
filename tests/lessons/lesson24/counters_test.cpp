// The counters of lesson 24, to the digit, as they follow from each kernel's access pattern, and the
// program's output.
//
// A request loads at most 32 ints of one row of the input: ceil(W / 32) requests per row, H rows. Word w of
// the tile lies in bank w % 32.
//
// 96 wide, 64 high: 3 x 2 whole tiles, 96 / 32 x 64 = 192 requests. Rows begin at multiples of 96 ints, those
// of the output at multiples of 64. So 32 ints of a row are 32 x 4 / 32 = 4 sectors: 192 x 4 = 768.
//   naive      lanes store 64 ints apart: 32 sectors per request, 192 x 32 = 6,144
//   tiled      a warp loads a column, words 32 t + c, from one bank: 32 wavefronts, 192 x 32 = 6,144
//   padded     words 33 t + c, banks t + c: 1 wavefront
//   swizzled   words 32 t + (c ^ t), banks c ^ t, all different: 1 wavefront. In a row c ^ r, all different.
//
// 33 wide, 31 high: 2 tiles side by side, none whole. A row of the input takes two requests, of 32 ints and
// of 1: 31 x 2 = 62. Row r begins at int 33 r, which is r % 8 ints into a sector. Its first 32 ints are 4
// sectors for r = 0, 8, 16, 24 and 5 sectors for the 27 others: 4 x 4 + 27 x 5 = 151. With 31 for the last
// ints: 182.
//   naive      lanes store 31 ints apart: a sector for each int, 33 x 31 = 1,023
//   others     the output has 33 rows of 31 ints, one request each. Row c begins at int 31 c, which is
//              -c % 8 ints into a sector. 31 ints from 0 or 1 on are 4 sectors, from further on 5.
//              From 0: c = 0, 8, 16, 24, 32. From 1: c = 7, 15, 23, 31. So 9 x 4 + 24 x 5 = 156.
//   shared     62 stores of rows, 1 wavefront each. 33 loads of columns of 31 words: 31 wavefronts each from
//              one bank, 33 x 31 = 1,023, else 1.
//
//   sectors    positions along an output row are counted from the sector's boundary before it. 31 ints from
//              position 0 or 1 on are one request of up to 32 positions, from further on two:
//              9 x 1 + 24 x 2 = 57. A boundary lies between the two, so there are 156 sectors again. A block
//              stores its whole tile to shared memory, 72 rows of 2 wavefronts: 144. 96 x 64 takes two
//              blocks, 33 x 31 and 1 x 1 take one.
//
// 1 x 1: one of each.
//
// 1 wide, 100 high: each row of the input is one int, 100 requests and sectors. A request of the naive kernel
// stores one int, too. The others store one row from 4 tiles: 4 requests, and 100 / 8 = 12.5, so 13 sectors.
// They load columns of 32, 32, 32 and 4 words: 100 wavefronts from one bank, else 4. Of the sectors' kernel
// the last of 2 blocks has the positions from 64 on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>

#include "launch.hpp"

namespace lesson24_counters {

using testing::AllOf, testing::HasSubstr, testing::Not;

struct Case {
    const char* kernel;
    const char* arguments;
    std::uint64_t load_requests, load_sectors, store_requests, store_sectors;
    std::uint64_t tile_stores = 0, tile_loads = 0; // wavefronts in shared memory
    friend void PrintTo(const Case& c, std::ostream* out) { *out << c.kernel << c.arguments; }
};

constexpr const char *whole = " --width 96 --height 64", *odd = " --width 33 --height 31",
                     *one = " --width 1 --height 1", *column = " --width 1 --height 100";

const Case cases[] = {
    {"copy", whole, 192, 768, 192, 768},
    {"transposeNaive", whole, 192, 768, 192, 6'144},
    {"transposeTiled", whole, 192, 768, 192, 768, 192, 6'144},
    {"transposePadded", whole, 192, 768, 192, 768, 192, 192},
    {"transposeSwizzled", whole, 192, 768, 192, 768, 192, 192},
    {"transposeSectors", whole, 192, 768, 192, 768, 288, 192},
    {"copy", odd, 62, 182, 62, 182},
    {"transposeNaive", odd, 62, 182, 62, 1'023},
    {"transposeTiled", odd, 62, 182, 33, 156, 62, 1'023},
    {"transposePadded", odd, 62, 182, 33, 156, 62, 33},
    {"transposeSwizzled", odd, 62, 182, 33, 156, 62, 33},
    {"transposeSectors", odd, 62, 182, 57, 156, 144, 57},
    {"copy", one, 1, 1, 1, 1},
    {"transposeNaive", one, 1, 1, 1, 1},
    {"transposeTiled", one, 1, 1, 1, 1, 1, 1},
    {"transposePadded", one, 1, 1, 1, 1, 1, 1},
    {"transposeSwizzled", one, 1, 1, 1, 1, 1, 1},
    {"transposeSectors", one, 1, 1, 1, 1, 144, 1},
    {"copy", column, 100, 100, 100, 100},
    {"transposeNaive", column, 100, 100, 100, 100},
    {"transposeTiled", column, 100, 100, 4, 13, 100, 100},
    {"transposePadded", column, 100, 100, 4, 13, 100, 4},
    {"transposeSwizzled", column, 100, 100, 4, 13, 100, 4},
    {"transposeSectors", column, 100, 100, 4, 13, 288, 4},
};

TEST(Lesson24Transposition, has_the_counters_that_follow_from_its_access_pattern) {
    for (const Case& expected : cases) {
        SCOPED_TRACE(testing::PrintToString(expected));
        const Launch launch("lesson24", expected.kernel, expected.arguments);
        EXPECT_EQ(launch.requests("ld"), expected.load_requests);
        EXPECT_EQ(launch.sectors("ld"), expected.load_sectors);
        EXPECT_EQ(launch.requests("st"), expected.store_requests);
        EXPECT_EQ(launch.sectors("st"), expected.store_sectors);
        EXPECT_EQ(launch.wavefronts("st"), expected.tile_stores);
        EXPECT_EQ(launch.wavefronts("ld"), expected.tile_loads);
        EXPECT_EQ(launch.conflicts("st"), 0u);
        const std::uint64_t tile_requests = expected.tile_loads == 0 ? 0 : expected.store_requests;
        EXPECT_EQ(launch.conflicts("ld"), expected.tile_loads - tile_requests);
    }
}

nlohmann::json report(const std::string& arguments) {
    const ProgramResult result = run_program("./lesson24 --device emulator --format json" + arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out);
}

TEST(Lesson24TranspositionProgram, tells_the_matrix_and_the_launch) {
    const nlohmann::json all = report(" --width 1000 --height 37 --seed 5");
    EXPECT_EQ(all["elements"], 1000 * 37);
    EXPECT_EQ(all["seed"], 5);
    EXPECT_EQ(all["options"], (nlohmann::json{{"--width", 1000}, {"--height", 37}}));
    ASSERT_EQ(all["kernels"].size(), 5u);
    for (const nlohmann::json& kernel : all["kernels"]) {
        EXPECT_EQ(kernel["verified"], true);
        EXPECT_EQ(kernel["grid"], nlohmann::json::array({32, 2, 1})); // 1000 / 32 and 37 / 32, rounded up
        EXPECT_EQ(kernel["block"], nlohmann::json::array({32, 8, 1}));
        EXPECT_EQ(kernel["bytes"], 2 * 4 * 1000 * 37); // each int is read and written
    }
}

TEST(Lesson24TranspositionProgram, has_another_matrix_for_another_seed) {
    const auto last = [](const std::string& seed) {
        return report(" --kernel copy --width 3 --height 3 --seed " + seed)["kernels"][0]["actual"];
    };
    EXPECT_EQ(last("5"), last("5"));
    EXPECT_NE(last("5"), last("6"));
}

TEST(Lesson24TranspositionProgram, takes_a_width_and_a_height_and_no_n) {
    EXPECT_THAT(run_program("./lesson24 --help").out,
                AllOf(HasSubstr("--width W"), HasSubstr("--height H"), HasSubstr("--seed S"),
                      Not(HasSubstr("--n ")), Not(HasSubstr("--block "))));
    for (const auto& [arguments, message] :
         {std::pair("--n 64",
                    "lesson24: --n: this lesson's own options set the size. It has --width, --height."),
          {"--height 0", "lesson24: --height 0: too small. Write a whole number from 1 to 1,048,576."},
          {"--width 1048577", "lesson24: --width 1048577: too large. Write"}}) {
        const ProgramResult result = run_program(std::string("./lesson24 --device emulator ") + arguments);
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.err, HasSubstr(message));
    }
}

} // namespace lesson24_counters

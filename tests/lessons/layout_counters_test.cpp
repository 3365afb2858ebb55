// The counters and output of the programs of lessons 16 to 21.
//
// A warp stores once and loads once. Such a request takes as many wavefronts as the worst bank has different
// words; bank of word w = w % 32.
//
// 32 x 32, 32 warps. By rows, warp w takes the words 32 w + t: 32 banks, 1 wavefront, 32 x 1 = 32 in all. By
// columns 32 t + w: one bank, 32 wavefronts, 32 x 32 = 1024. With padding P the words are (32 + P) t + w: P t
// banks apart, in all banks for odd P; for P = 2 in 16 banks, 2 words in each.
//
// 32 x 16, 16 warps. By rows 16 x 1 = 16. By columns a warp has two columns of 16: the words 32 r + 2 w and
// 32 r + 2 w + 1 for r = 0 … 15: two banks of 16 words, 16 x 16 = 256. Padding 1: 33 r + c is bank r + c for
// columns c = 0, 1 (from bank 2 w on): the banks 1 to 15 are those of two words, 16 x 2 = 32. Padding 2:
// 34 r + c is bank 2 r + c: all 32 banks, 16 x 1 = 16.
//
// 16 x 16, 8 warps, two rows or two columns each. By columns 16 r + c: r is even or odd, c 0 or 1: 4 banks of
// 8 words, 8 x 8 = 64. Padding 2: 18 r + c, 16 even banks and those behind them: 8 x 1. By rows with padding
// 2: 16 words, and 16 from word 18 on: the words 32 and 33 are banks 0 and 1 again, 8 x 2 = 16.
//
// 16 wide, 32 high, 16 warps. By columns 16 r + c, one column: 2 banks of 16 words, 16 x 16 = 256. Padding 1:
// 17 r + c, all banks: 16; by rows 16 words, and 16 from word 17 on: word 32 is bank 0 again, 16 x 2 = 32.
//
// 31 x 31, 961 threads in 31 warps, the last of which is one lane. By columns 31 r + c, as long as c stays;
// at a column's foot, r = 30, the next word is c + 1, and 31 x 30 + 31 = 961 is bank 1: as if the column went
// on. 31 x t is -t in banks: 31 wavefronts, and as many by rows.
//
// 1024 x 1 and 1 x 1024: 1024 words in sequence. 1 x 1024 with padding 33: the words 34 t, in 16 banks: 32
// x 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "launch.hpp"

namespace layout_counters_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Case {
    const char* lesson;
    const char* kernel;
    const char* arguments;
    std::uint64_t warps, load, store; // wavefronts
    std::uint64_t dynamic_ints = 0;
    friend void PrintTo(const Case& c, std::ostream* out) {
        *out << c.lesson << " " << c.kernel << c.arguments;
    }
};

class TileOnEmulator : public testing::TestWithParam<Case> {};

TEST_P(TileOnEmulator, has_the_wavefronts_that_follow_from_its_words) {
    const Case& expected = GetParam();
    const Launch launch(expected.lesson, expected.kernel, expected.arguments);
    EXPECT_EQ(launch.blocks(), 1u);
    EXPECT_EQ(launch.wavefronts("ld"), expected.load);
    EXPECT_EQ(launch.wavefronts("st"), expected.store);
    EXPECT_EQ(launch.conflicts("ld"), expected.load - expected.warps);
    EXPECT_EQ(launch.conflicts("st"), expected.store - expected.warps);
    EXPECT_EQ(launch.sectors("ld"), 0u);
    EXPECT_EQ(launch.requests("st"), expected.warps) << "of `out`, which no padding reaches";
}

INSTANTIATE_TEST_SUITE_P(
    Lessons, TileOnEmulator,
    testing::Values(
        // As published.
        Case{"lesson16", "setRowReadRow", "", 32, 32, 32},
        Case{"lesson16", "setColReadCol", "", 32, 1024, 1024},
        Case{"lesson16", "setRowReadCol", "", 32, 1024, 32},
        Case{"lesson17", "setRowReadCol", "", 32, 1024, 32},
        Case{"lesson17", "setRowReadColDyn", "", 32, 1024, 32},
        Case{"lesson18", "setRowReadCol", "", 32, 1024, 32},
        Case{"lesson18", "setRowReadColPad", "", 32, 32, 32},
        Case{"lesson18", "setRowReadColDynPad", "", 32, 32, 32},
        Case{"lesson19", "setRowReadRow", "", 16, 16, 16},
        Case{"lesson19", "setColReadCol", "", 16, 256, 256},
        Case{"lesson19", "setRowReadCol", "", 16, 256, 16},
        Case{"lesson20", "setRowReadCol", "", 16, 256, 16},
        Case{"lesson20", "setRowReadColDyn", "", 16, 256, 16},
        Case{"lesson21", "setRowReadCol", "", 16, 256, 16},
        Case{"lesson21", "setRowReadColPad", " --padding 1", 16, 32, 16},
        Case{"lesson21", "setRowReadColPad", "", 16, 16, 16},
        Case{"lesson21", "setRowReadColDynPad", "", 16, 16, 16},
        // Other tiles and paddings.
        Case{"lesson18", "setRowReadColPad", " --padding 2", 32, 64, 32},
        Case{"lesson18", "setRowReadColPad", " --padding 0", 32, 1024, 32},
        Case{"lesson18", "setRowReadColPad", " --padding 33", 32, 32, 32},
        Case{"lesson16", "setRowReadCol", " --width 16", 8, 64, 8},
        Case{"lesson18", "setRowReadColPad", " --width 16 --padding 2", 8, 8, 16},
        Case{"lesson16", "setColReadCol", " --height 31", 31, 31, 31},
        Case{"lesson19", "setRowReadCol", " --width 16 --height 32", 16, 256, 16},
        Case{"lesson21", "setRowReadColDynPad", " --width 16 --height 32 --padding 1", 16, 16, 32},
        Case{"lesson19", "setRowReadCol", " --width 1024 --height 1", 32, 32, 32},
        Case{"lesson19", "setColReadCol", " --width 1 --height 1024", 32, 32, 32},
        Case{"lesson21", "setRowReadColDynPad", " --width 1 --height 1024 --padding 33", 32, 64, 64}),
    [](const auto& info) {
        std::string name = std::string(info.param.lesson) + "_" + info.param.kernel + info.param.arguments;
        std::replace(name.begin(), name.end(), ' ', '_');
        std::erase(name, '-');
        return name;
    });

nlohmann::json report(const std::string& line) {
    const ProgramResult result = run_program(line + " --device emulator --format json");
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out);
}

TEST(TileProgram, tells_block_and_shared_memory) {
    const nlohmann::json all = report("./lesson21 --width 10 --height 7 --padding 3");
    EXPECT_EQ(all["elements"], 70);
    EXPECT_TRUE(all["seed"].is_null());
    EXPECT_EQ(all["options"], (nlohmann::json{{"--width", 10}, {"--height", 7}, {"--padding", 3}}));
    for (const nlohmann::json& kernel : all["kernels"]) {
        EXPECT_EQ(kernel["block"], nlohmann::json::array({10, 7, 1}));
        EXPECT_EQ(kernel["bytes"], 70 * 4);
        EXPECT_EQ(kernel["dynamic_shared_bytes"], kernel["name"] == "setRowReadColDynPad" ? 13 * 7 * 4 : 0);
    }
    EXPECT_EQ(report("./lesson17 --width 9 --kernel setRowReadColDyn")["kernels"][0]["dynamic_shared_bytes"],
              9 * 9 * 4);
}

TEST(TileProgram, draws_a_map_for_each_kernel) {
    const ProgramResult result = run_program("./lesson21 --device emulator --padding 1");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(
        result.out,
        AllOf(HasSubstr("\nsetRowReadCol: a tile of 32 x 16 ints\n"),
              HasSubstr("\nload:  16 wavefronts (bank 0: lanes 0, 1, 2, 3, ...); "
                        "all 16 warps: 256\n"),
              HasSubstr("\nsetRowReadColPad: a tile of 32 x 16 ints, 1 of padding after each row\n"),
              HasSubstr("   32  -....... ........ ........ ........   -1h..... ........ ........ ........\n"),
              HasSubstr("\nload:  2 wavefronts (bank 1: lanes 1, 16); all 16 warps: 32\n"),
              HasSubstr("\nsetRowReadColDynPad: a tile of 32 x 16 ints, 1 of padding after each row\n"),
              HasSubstr("0 for stores, 2 for loads, 2 for both\n")));
}

TEST(TileProgram, runs_the_padded_kernel_when_a_padding_is_given) {
    for (const char* lesson : {"lesson16", "lesson17", "lesson19", "lesson20"}) {
        const std::string line = std::string("./") + lesson + " --device emulator --verify";
        const std::string padded = lesson == std::string("lesson16") || lesson == std::string("lesson19")
                                       ? "setRowReadColPad"
                                       : "setRowReadColDynPad";
        EXPECT_THAT(run_program(line).out, Not(HasSubstr(padded)));
        EXPECT_THAT(run_program(line + " --padding 1").out, HasSubstr(padded + ": verified"));
        EXPECT_THAT(run_program(line + " --kernel " + padded).out, HasSubstr(padded + ": verified"));
    }
}

TEST(TileProgram, refuses_what_is_no_tile_of_its_lesson) {
    const struct {
        const char *line, *message;
    } cases[] = {
        {"./lesson16 --width 32 --height 16",
         "lesson16: --width 32 --height 16: this lesson's kernels swap x and y"},
        {"./lesson17 --width 33", "lesson17: --width 33 --height 33: 1,089 threads"},
        {"./lesson18 --padding 34", "lesson18: --padding 34: too large. Write a whole number from 0 to 33."},
        {"./lesson19 --width 0", "lesson19: --width 0: too small."},
        {"./lesson20 --height 33", "lesson20: --width 32 --height 33: 1,056 threads"},
        {"./lesson21 --block 256", "lesson21: --block: this lesson's kernels make their data themselves."},
        {"./lesson21 --device emulator --width 1 --height 1024 --padding 33",
         "139,264 bytes, and a static array has at most 49,152. A tile that is sized at launch may be "
         "larger: "
         "./lesson21 --kernel setRowReadColDynPad --width 1 --height 1024 --padding 33"},
    };
    for (const auto& [line, message] : cases) {
        const ProgramResult result = run_program(line);
        EXPECT_EQ(result.status, 2) << line;
        EXPECT_EQ(result.out, "") << line;
        EXPECT_THAT(result.err, HasSubstr(message));
    }
}

TEST(TileProgram, takes_more_than_48_kib_when_it_is_sized_at_launch) {
    for (const char* line :
         {"./lesson20 --padding 33", "./lesson21 --padding 33 --kernel setRowReadColDynPad"}) {
        EXPECT_EQ(
            run_program(std::string(line) + " --device emulator --verify --width 1 --height 1024").status, 0)
            << line;
    }
}

} // namespace layout_counters_test

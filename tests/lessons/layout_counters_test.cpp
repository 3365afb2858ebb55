// The counters and output of the programs of lessons 16 to 21.
#include "layout_counters.hpp"

#include <gmock/gmock.h>

#include <string>

namespace layout_counters {

using testing::AllOf, testing::HasSubstr, testing::Not;

void expect_wavefronts(std::initializer_list<Case> cases) {
    for (const Case& expected : cases) {
        SCOPED_TRACE(std::string(expected.kernel) + expected.arguments);
        const Launch launch(expected.lesson, expected.kernel, expected.arguments);
        EXPECT_EQ(launch.blocks(), 1u);
        EXPECT_EQ(launch.wavefronts("ld"), expected.load);
        EXPECT_EQ(launch.wavefronts("st"), expected.store);
        EXPECT_EQ(launch.conflicts("ld"), expected.load - expected.warps);
        EXPECT_EQ(launch.conflicts("st"), expected.store - expected.warps);
        EXPECT_EQ(launch.sectors("ld"), 0u);
        EXPECT_EQ(launch.requests("st"), expected.warps) << "of `out`, which no padding reaches";
    }
}

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

} // namespace layout_counters

#include "harness/tile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/exit_status.hpp"

using namespace harness;
using harness::by_columns, harness::by_rows;
using testing::ElementsAre, testing::HasSubstr;

namespace {

/// The lesson's own options, after parsing: width, height, padding.
std::vector<std::uint64_t> parse(const LessonInfo& info, std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "lesson");
    const Options options =
        parse_options(static_cast<int>(arguments.size()), arguments.data(), info, {"kernel"});
    return {options.lesson_options.at("--width"), options.lesson_options.at("--height"),
            options.lesson_options.at("--padding")};
}

std::string error_of(const LessonInfo& info, std::vector<const char*> arguments) {
    try {
        parse(info, std::move(arguments));
    } catch (const UsageError& error) {
        return error.what();
    }
    return "no error";
}

TEST(SquareTile, is_completed_to_a_square) {
    const LessonInfo square = square_tile_lesson("lesson", "title");
    EXPECT_THAT(parse(square, {}), ElementsAre(32, 32, 0));
    EXPECT_THAT(parse(square, {"--width", "8"}), ElementsAre(8, 8, 0));
    EXPECT_THAT(parse(square, {"--height", "17"}), ElementsAre(17, 17, 0));
    EXPECT_THAT(parse(square, {"--width", "5", "--height", "5", "--padding", "33"}), ElementsAre(5, 5, 33));
    EXPECT_THAT(parse(square_tile_lesson("lesson", "title", 1), {}), ElementsAre(32, 32, 1));
}

TEST(SquareTile, must_be_one) {
    const LessonInfo square = square_tile_lesson("lesson", "title");
    EXPECT_THAT(
        error_of(square, {"--width", "32", "--height", "16"}),
        AllOf(HasSubstr(
                  "--width 32 --height 16: this lesson's kernels swap x and y, which is right in a square "
                  "only. "),
              HasSubstr("lesson19, lesson20 and lesson21")));
    EXPECT_THAT(error_of(square, {"--width", "33"}),
                HasSubstr("--width 33 --height 33: 1,089 threads, and a block has at most 1,024."));
}

TEST(RectangularTile, is_completed_from_32_by_16) {
    const LessonInfo rectangle = rectangular_tile_lesson("lesson", "title");
    EXPECT_THAT(parse(rectangle, {}), ElementsAre(32, 16, 0));
    EXPECT_THAT(parse(rectangle, {"--width", "64"}), ElementsAre(64, 16, 0));
    EXPECT_THAT(parse(rectangle, {"--height", "1"}), ElementsAre(32, 1, 0));
    EXPECT_THAT(parse(rectangle, {"--width", "1", "--height", "1024"}), ElementsAre(1, 1024, 0));
    EXPECT_THAT(parse(rectangular_tile_lesson("lesson", "title", 2), {}), ElementsAre(32, 16, 2));
}

TEST(RectangularTile, must_fit_a_block) {
    const LessonInfo rectangle = rectangular_tile_lesson("lesson", "title");
    EXPECT_THAT(error_of(rectangle, {"--width", "65"}), HasSubstr("--width 65 --height 16: 1,040 threads"));
    EXPECT_THAT(error_of(rectangle, {"--width", "1025"}), HasSubstr("--width 1025: too large."));
    EXPECT_THAT(error_of(rectangle, {"--width", "0"}), HasSubstr("--width 0: too small."));
    EXPECT_THAT(error_of(rectangle, {"--height", "0"}), HasSubstr("--height 0: too small."));
    EXPECT_THAT(error_of(rectangle, {"--padding", "34"}),
                HasSubstr("--padding 34: too large. Write a whole number from 0 to 33."));
    EXPECT_THAT(error_of(rectangle, {"--n", "100"}), HasSubstr("It has --width, --height, --padding."));
}

TEST(StaticTile, may_be_too_small) {
    EXPECT_NO_THROW(require_static_tile({32, 16, 2}, 34 * 16));
    try {
        require_static_tile({32, 16, 2}, 34 * 16 - 1);
        ADD_FAILURE() << "34 x 16 ints don't fit in one less";
    } catch (const UsageError& error) {
        EXPECT_STREQ(error.what(), "--width 32 --height 16 --padding 2: 2,176 bytes, and a static array has "
                                   "at most 2,172. A tile that "
                                   "is sized at launch may be larger: ./lesson21 --kernel "
                                   "setRowReadColDynPad --width 32 --height 16 "
                                   "--padding 2");
    }
}

TEST(ExpectedOutput, is_what_was_stored_in_the_order_of_the_loads) {
    // 0 1 2
    // 3 4 5
    const Tile tile{.width = 3, .height = 2, .padding = 7};
    EXPECT_THAT(expected_output(tile, {by_rows, by_rows}), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(expected_output(tile, {by_rows, by_columns}), ElementsAre(0, 3, 1, 4, 2, 5));
    EXPECT_THAT(expected_output(tile, {by_columns, by_columns}), ElementsAre(0, 1, 2, 3, 4, 5));
    // 0 2 4
    // 1 3 5
    EXPECT_THAT(expected_output(tile, {by_columns, by_rows}), ElementsAre(0, 2, 4, 1, 3, 5));
}

} // namespace

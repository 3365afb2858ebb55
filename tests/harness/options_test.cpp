#include "harness/detail/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "harness/exit_status.hpp"

using namespace harness;
using testing::AllOf, testing::ElementsAre, testing::HasSubstr, testing::Not, testing::ThrowsMessage;

namespace options_test {

const LessonInfo info{.name = "lesson42", .title = "A title"};
const std::vector<std::string> kernels{"reduce1", "reduce2", "reduceSmem"};

Options parse(std::vector<const char*> arguments, const LessonInfo& lesson = info) {
    arguments.insert(arguments.begin(), "./lesson42");
    return parse_options(static_cast<int>(arguments.size()), arguments.data(), lesson, kernels);
}

TEST(Options, have_defaults) {
    const Options options = parse({});
    EXPECT_FALSE(options.n);
    EXPECT_EQ(options.block, 256u);
    EXPECT_EQ(options.kernels, kernels);
    EXPECT_FALSE(options.named_kernels);
    EXPECT_EQ(options.device, DeviceChoice::automatic);
    EXPECT_FALSE(options.repeat);
    EXPECT_EQ(options.seed, 42u);
    EXPECT_EQ(options.format, OutputFormat::text);
    EXPECT_FALSE(options.verify_only || options.changed);
    EXPECT_TRUE(options.note.empty());
    EXPECT_TRUE(options.answer.empty());
}

TEST(Options, are_all_read) {
    const Options options = parse({"--n", "16Mi", "--block=512", "--device", "emulator", "--repeat", "7",
                                   "--seed", "18446744073709551615", "--format", "csv", "--verify"});
    EXPECT_EQ(options.n, 16'777'216u);
    EXPECT_EQ(options.block, 512u);
    EXPECT_EQ(options.device, DeviceChoice::emulator);
    EXPECT_EQ(options.repeat, 7u);
    EXPECT_EQ(options.seed, 18446744073709551615u);
    EXPECT_EQ(options.format, OutputFormat::csv);
    EXPECT_TRUE(options.verify_only);
    EXPECT_EQ(parse({"--device", "gpu"}).device, DeviceChoice::gpu);
    EXPECT_EQ(parse({"--format", "json"}).format, OutputFormat::json);
    EXPECT_TRUE(parse({"--changed", "--format=text", "--lines"}).changed);
}

TEST(Options, take_the_last_of_a_repeated_value) { EXPECT_EQ(parse({"--n", "5", "--n", "6"}).n, 6u); }

TEST(Options, select_kernels_once_each_and_in_the_lessons_order) {
    EXPECT_THAT(parse({"--kernel", "reduce2"}).kernels, ElementsAre("reduce2"));
    EXPECT_TRUE(parse({"--kernel", "reduce2"}).named_kernels);
    EXPECT_THAT(parse({"--kernel", "reduceSmem", "--kernel=reduce1", "--kernel", "reduceSmem"}).kernels,
                ElementsAre("reduce1", "reduceSmem"));
}

TEST(Options, take_every_block_that_the_lesson_allows) {
    for (const char* block : {"32", "64", "128", "256", "512", "1024"}) {
        EXPECT_EQ(parse({"--block", block}).block, static_cast<unsigned int>(std::stoi(block)));
    }
    const LessonInfo narrow{
        .name = "a", .title = "b", .smallest_block = 64, .largest_block = 128, .default_block = 128};
    EXPECT_EQ(parse({}, narrow).block, 128u);
    EXPECT_EQ(parse({"--block", "64"}, narrow).block, 64u);
    EXPECT_THAT(
        [&] {
            parse({"--block", "32"}, narrow);
        },
        ThrowsMessage<UsageError>(
            HasSubstr("too small for this lesson's kernels. Write a power of two from 64 to 128.")));
    EXPECT_THAT(
        [&] {
            parse({"--block", "256"}, narrow);
        },
        ThrowsMessage<UsageError>(HasSubstr("too large")));
}

TEST(Options, answer_questions_even_beside_errors) {
    EXPECT_EQ(parse({"--list"}).answer, "reduce1\nreduce2\nreduceSmem\n");
    EXPECT_THAT(parse({"--version"}).answer, HasSubstr("lesson42 0."));
    EXPECT_EQ(parse({"--help"}).answer, help_text(info, kernels));
    EXPECT_EQ(parse({"--n", "0", "--bogus", "-h"}).answer, help_text(info, kernels));
}

const LessonInfo with_options{.name = "lesson42",
                              .title = "A title",
                              .options = {{.name = "--offset",
                                           .value = "K",
                                           .help = "where to\nbegin",
                                           .smallest = 2,
                                           .largest = 5000,
                                           .default_value = 3},
                                          {.name = "--elements-per-thread", .value = "E", .help = "how many"},
                                          {.name = "--sweep", .value = "", .help = "all sizes"}}};

TEST(LessonOptions, are_numbers_or_flags) {
    const Options defaults = parse({}, with_options);
    EXPECT_EQ(defaults.lesson_options.at("--offset"), 3u);
    EXPECT_EQ(defaults.lesson_options.at("--sweep"), 0u);
    const Options given = parse({"--sweep", "--n", "7", "--offset", "2", "--offset=5k"}, with_options);
    EXPECT_EQ(given.n, 7u);
    EXPECT_EQ(given.lesson_options.at("--offset"), 5000u);
    EXPECT_EQ(given.lesson_options.at("--sweep"), 1u);
    EXPECT_TRUE(parse({}).lesson_options.empty());
}

TEST(LessonOptions, are_refused_with_what_would_be_right) {
    const auto expect_error = [](std::vector<const char*> arguments, const char* message) {
        EXPECT_THAT([&] { parse(arguments, with_options); }, ThrowsMessage<UsageError>(HasSubstr(message)))
            << message;
    };
    expect_error({"--offset", "1"}, "--offset 1: too small. Write a whole number from 2 to 5,000.");
    expect_error({"--offset", "5001"}, "--offset 5001: too large. Write a whole number from 2 to 5,000.");
    expect_error({"--offset", "x"}, "--offset x: not a whole number. Write");
    expect_error({"--offset"}, "--offset: needs a value.");
    expect_error({"--sweep=1"}, "--sweep: takes no value.");
    expect_error({"--ofset", "1"}, "Did you mean --offset?");
    EXPECT_THAT([] { parse({"--offset", "3"}); }, ThrowsMessage<UsageError>("--offset: unknown option."));
}

TEST(LessonOptions, are_in_the_help) {
    const std::string help = help_text(with_options, kernels);
    EXPECT_THAT(help, HasSubstr("\n  --offset K      where to\n                  begin\n"));
    EXPECT_THAT(help, HasSubstr("\n  --elements-per-thread E\n                  how many\n"));
    EXPECT_THAT(help, HasSubstr("\n  --sweep         all sizes\n"));
}

const LessonInfo with_choices{.name = "lesson42",
                              .title = "A title",
                              .options = {{.name = "--type",
                                           .value = "T",
                                           .help = "int, long or half",
                                           .default_value = 1,
                                           .choices = {"int", "long", "half"}}}};

TEST(LessonOptions, are_choices_by_name) {
    EXPECT_EQ(parse({}, with_choices).lesson_options.at("--type"), 1u);
    EXPECT_EQ(parse({"--type", "int"}, with_choices).lesson_options.at("--type"), 0u);
    EXPECT_EQ(parse({"--type", "int", "--type=half"}, with_choices).lesson_options.at("--type"), 2u);
    for (const char* wrong : {"ints", "1", ""}) {
        EXPECT_THAT(
            [&] {
                parse({"--type", wrong}, with_choices);
            },
            ThrowsMessage<UsageError>(std::string("--type ") + wrong +
                                      ": unknown. Write one of: int, long, half."));
    }
}

const LessonInfo one_block{.name = "lesson14",
                           .title = "A title",
                           .options = {},
                           .largest_n = 2048,
                           .larger_n_hint = "lesson42 sums any number."};

TEST(LargestN, is_told_with_what_to_do_for_more) {
    EXPECT_EQ(parse({"--n", "2048"}, one_block).n, 2048u);
    EXPECT_THAT(
        [] {
            parse({"--n", "2049"}, one_block);
        },
        ThrowsMessage<UsageError>("--n 2049: too many for this lesson's kernels. Write a whole number from "
                                  "1 to 2,048. lesson42 sums any number."));
    EXPECT_THAT(
        [] {
            parse({"--n", "0"}, one_block);
        },
        ThrowsMessage<UsageError>(HasSubstr("Write a whole number from 1 to 2,048.")));
    EXPECT_THAT(help_text(one_block, kernels),
                HasSubstr("Any from 1 to 2,048.\n                  Default: 2,048\n"));
}

const LessonInfo tile{
    .name = "lesson16",
    .title = "A tile",
    .options = {{.name = "--width", .value = "W", .help = "columns", .largest = 32, .default_value = 32}},
    .random_input = false};

TEST(WithoutRandomInput, there_are_no_options_about_it) {
    EXPECT_EQ(parse({"--width", "7"}, tile).lesson_options.at("--width"), 7u);
    for (const char* option : {"--n", "--block", "--seed"}) {
        EXPECT_THAT(
            [&] {
                parse({option, "64"}, tile);
            },
            ThrowsMessage<UsageError>(option + std::string(": this lesson's kernels make their data "
                                                           "themselves. It has --width.")));
        EXPECT_THAT(help_text(tile, kernels), Not(HasSubstr(std::string(option) + " ")));
    }
    EXPECT_THAT(help_text(tile, kernels), Not(HasSubstr("random")));
    EXPECT_THAT(
        [] {
            parse({"--widht", "64"}, tile);
        },
        ThrowsMessage<UsageError>("--widht: unknown option. Did you mean --width?"));

    LessonInfo fixed = tile;
    fixed.options.clear();
    EXPECT_THAT(
        [&] {
            parse({"--n", "64"}, fixed);
        },
        ThrowsMessage<UsageError>("--n: this lesson's kernels make their data themselves."));
}

TEST(OwnSize, replaces_n) {
    LessonInfo matrix = tile;
    matrix.random_input = true;
    matrix.count_elements = [](const auto& options) { return options.at("--width") * 2; };
    EXPECT_EQ(parse({"--width", "7", "--seed", "5"}, matrix).seed, 5u);
    EXPECT_EQ(parse({"--block", "64"}, matrix).block, 64u);
    EXPECT_THAT(help_text(matrix, kernels), HasSubstr("\n  --block B "));
    matrix.smallest_block = matrix.largest_block = 256; // another block would be wrong
    for (const char* option : {"--n", "--block"}) {
        EXPECT_THAT(
            [&] {
                parse({option, "64"}, matrix);
            },
            ThrowsMessage<UsageError>(
                option + std::string(": this lesson's own options set the size. It has --width.")));
        EXPECT_THAT(help_text(matrix, kernels), Not(HasSubstr(std::string(option) + " ")));
    }
    EXPECT_THAT(help_text(matrix, kernels), AllOf(HasSubstr("random ints"), HasSubstr("--seed S")));
}

TEST(Help, tells_the_kernels_that_come_with_an_option_only) {
    LessonInfo lesson = with_options;
    lesson.optional_kernels = {{"reduceSmem", "--sweep"}};
    EXPECT_THAT(help_text(lesson, kernels),
                AllOf(HasSubstr("Runs the kernels reduce1, reduce2 on the same"),
                      HasSubstr(" With --sweep, or by name, also reduceSmem.\n")));
}

TEST(Help, names_every_option_every_kernel_and_every_exit_status) {
    const std::string help = help_text(info, kernels);
    for (const char* text : {"--n N",
                             "--block B",
                             "--kernel NAME",
                             "--device WHERE",
                             "--repeat R",
                             "--seed S",
                             "--format HOW",
                             "--verify",
                             "--explain",
                             "--changed",
                             "--color HOW",
                             "NO_COLOR",
                             "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                             "--list",
                             "--help",
                             "--version",
                             "reduce1, reduce2, reduceSmem",
                             "lesson42: A title",
                             "auto, gpu or emulator",
                             "text, json or csv",
                             "32 to 1024",
                             "\n  0 ",
                             "\n  1 ",
                             "\n  2 ",
                             "\n  3 "}) {
        EXPECT_THAT(help, HasSubstr(text));
    }
}

TEST(Help, fits_a_terminal_of_80_columns) {
    const std::vector<std::string> many(5, "reduceNeighboredGmem");
    for (const LessonInfo& lesson : {info, with_options, one_block, tile}) {
        std::istringstream lines(help_text(lesson, many));
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
    }
}

const struct {
    std::vector<const char*> arguments;
    const char* message;
} rejected[] = {

    {{"--changed=2"}, "--changed: takes no value."},
    {{"--changed", "--format", "json"}, "--format json: --changed prints a table. Leave one of them out."},
    {{"--format=csv", "--changed"}, "--format csv: --changed prints a table. Leave one of them out."},
    {{"--changed", "--verify"}, "--changed: compares what was counted or timed. Leave out --verify"},
    {{"--changed", "--check", "mem"},
     "--changed: compares what was counted or timed. Leave out --verify, --check"},
    {{"--n", "0"}, "--n 0: there would be nothing to sum. Write a whole number from 1 up"},
    {{"--n", "-5"}, "--n -5: negative. Write a whole number from 1 up, such as 1000, 16M, 1Gi or 2^24."},
    {{"--n=-5"}, "--n -5: negative."},
    {{"--n", "abc"}, "--n abc: not a whole number. Write"},
    {{"--n", "1e99"}, "--n 1e99: 'e99' is no unit"},
    {{"--n", "16Q"}, "--n 16Q: 'Q' is no unit; these are: k, M, G, Ki, Mi, Gi. Write"},
    {{"--n", "2^64"}, "--n 2^64: more than 64 bits can hold."},
    {{"--n"}, "--n: needs a value."},
    {{"--n", "--verify"}, "--n --verify: not a whole number."},
    {{"--block", "0"},
     "--block 0: a block should fill at least one warp, which is 32 threads. Write a power of "
     "two from 32 to 1024."},
    {{"--block", "31"}, "at least one warp"},
    {{"--block", "48"}, "--block 48: not a power of two"},
    {{"--block", "2048"}, "--block 2048: a block has at most 1024 threads."},
    {{"--block", "2^40"}, "at most 1024 threads"},
    {{"--block", "big"}, "--block big: not a whole number. Write a power of two from 32 to 1024."},
    {{"--kernel", "transpose"},
     "--kernel transpose: unknown. This lesson's kernels are: reduce1, reduce2, reduceSmem."},
    {{"--kernel", "reduceSmen"}, "Did you mean reduceSmem?"},
    {{"--kernel", "reduce1", "reduce2"}, "'reduce2': unexpected."},
    {{"--device", "cpu"}, "--device cpu: unknown. Write one of: auto, gpu, emulator."},
    {{"--format", "xml"}, "--format xml: unknown. Write one of: text, json, csv."},
    {{"--format", ""}, "--format"},
    {{"--color", "pink"}, "--color pink: unknown. Write one of: auto, always, never."},
    {{"--repeat", "0"}, "--repeat 0: at least one run is needed."},
    {{"--repeat", "1000001"}, "Write a whole number from 1 to 1M."},
    {{"--seed", "-1"}, "--seed -1: negative. Write a whole number from 0 to 2^64 - 1."},
    {{"--list=5"}, "--list: takes no value."},
    {{"--blok", "64"}, "--blok: unknown option. Did you mean --block?"},
    {{"--frmat=csv"}, "--frmat: unknown option. Did you mean --format?"},
    {{"--"}, "--: unknown option."},
    {{"-x"}, "-x: unknown option."},
    {{"1000"}, "'1000': unexpected. Did you mean --n 1000?"},
    {{""}, "'': unexpected."},
};

TEST(Options, reject_what_is_wrong_and_say_what_would_be_right) {
    for (const auto& tried : rejected) {
        SCOPED_TRACE(testing::PrintToString(tried.arguments));
        EXPECT_THAT([&] { parse(tried.arguments); }, ThrowsMessage<UsageError>(HasSubstr(tried.message)));
    }
}

} // namespace options_test

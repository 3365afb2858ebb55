// A lesson that hands itself to `emulate`. It always runs on the emulator then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test_device.hpp"

using testing::AllOf, testing::HasSubstr, testing::Not;

namespace {

const std::string wrong_lesson = "./wrong_lesson --n 1000 --kernel drops_the_tail ";

TEST(ObservedLessonOnEmulator, keeps_its_output_and_exit_status) {
    const ProgramResult result = run_program(wrong_lesson + "--lines");
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.out, run_program(wrong_lesson + "--device emulator").out);
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("drops_the_tail: wrong result: expected "), HasSubstr("wrong_kernels.cu"),
                      HasSubstr("| __global__ void drops_the_tail(")));
    EXPECT_THAT(result.err, Not(HasSubstr("so the emulator runs the kernels"))) << "it is asked for";
}

TEST(ObservedLessonOnEmulator, only_verifies_while_it_is_checked) {
    const ProgramResult result = run_program(wrong_lesson + "--check all");
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.out, run_program(wrong_lesson + "--device emulator --verify").out);
    EXPECT_THAT(result.err, HasSubstr("no findings"));
}

TEST(ObservedLessonOnEmulator, says_what_became_of_the_old_spelling) {
    const ProgramResult result = run_program(wrong_lesson + "--check");
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.out, run_program(wrong_lesson + "--verify").out);
    EXPECT_THAT(result.err, AllOf(HasSubstr("wrong_lesson: --check runs the checkers. To verify only, "),
                                  HasSubstr("no findings (mem, init, race, sync)")));
}

TEST(ObservedLessonOnEmulator, is_colored_on_a_terminal_alone) {
    const std::string terminal = "python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' ",
                      colors = "TERM=xterm NO_COLOR= ";
    for (const std::string option : {"--device emulator", "--device emulator --verify", "--check all"}) {
        const auto has_escape = [&](const std::string& start, const std::string& end) {
            const ProgramResult result = run_program(start + wrong_lesson + option + end);
            return (result.out + result.err).find("\x1b[31m") != std::string::npos;
        };
        EXPECT_TRUE(has_escape(colors + terminal, ""));
        EXPECT_TRUE(has_escape("NO_COLOR=1 ", " --color always"));
        EXPECT_FALSE(has_escape(colors, ""));
        EXPECT_FALSE(has_escape(colors + terminal, " --color never"));
        EXPECT_FALSE(has_escape("TERM=xterm NO_COLOR=1 " + terminal, ""));
        EXPECT_FALSE(has_escape("TERM=dumb NO_COLOR= " + terminal, ""));
        EXPECT_FALSE(has_escape(colors + terminal, " --format json"));
    }
}

TEST(ObservedLessonOnEmulator, ends_with_10_when_something_is_found) {
    const ProgramResult result = run_program("./wrong_lesson --kernel writes_out_of_bounds --check mem");
    EXPECT_EQ(result.status, 10);
    EXPECT_THAT(result.err, HasSubstr("wrong_kernels.cu:"));
}

TEST(ObservedLessonOnEmulator, has_its_options_judged_by_emulate) {
    const auto expect_error = [](const std::string& options, const std::string& message) {
        const ProgramResult result = run_program(wrong_lesson + options);
        EXPECT_EQ(result.status, 2) << options;
        EXPECT_EQ(result.out, "") << options;
        EXPECT_EQ(result.err, "wrong_lesson: " + message + "\nTry: ./wrong_lesson --help\n");
    };
    const std::string checkers = "; write all, or some of mem,init,race,sync; did you mean race?";
    expect_error("--check rase", "--check rase: there is no checker 'rase'" + checkers);
    expect_error("--check mem,rase", "--check mem,rase: there is no checker 'rase'" + checkers);
    expect_error("--check=5", "--check 5: there is no checker '5'; write all, or some of mem,init,race,sync");
    expect_error("--draw bank",
                 "--draw bank: write one of banks, sectors, activity, tile, time; did you mean banks?");
    expect_error("--draw banks --line 0", "--line 0: write a whole number from 1 to 4294967295");
    expect_error("--schedule x", "--schedule x: write a whole number from 0 to 2^64 - 1");
    expect_error("--schedules 0", "--schedules 0: write a whole number from 1 to 1000000");
    expect_error("--line 3", "--line: picks the access to draw; add --draw");
    expect_error("--draw tile --lines",
                 "--draw: makes a picture of its own; leave out --counters, --lines and --check");
    expect_error("--schedules 3 --check all",
                 "--schedules: only compares runs; pass the seed that it reports to --schedule, with what "
                 "else you want to see");
}

TEST(ObservedLessonOnEmulator, gives_the_same_result_in_every_order) {
    const ProgramResult result = run_program(wrong_lesson + "--schedules 3");
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.err, HasSubstr("does the same in 3 other orders"));
    EXPECT_EQ(run_program(wrong_lesson + "--schedule 2^2").out,
              run_program(wrong_lesson + "--device emulator --verify").out);
}

TEST(ObservedLessonOnEmulator, reports_in_json_beside_its_own) {
    const ProgramResult result =
        run_program("./wrong_lesson --n 65536 --kernel drops_the_tail --lines --format json");
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(nlohmann::json::parse(result.out)["kernels"][0]["name"], "drops_the_tail");
    EXPECT_FALSE(nlohmann::json::parse(result.err)["lines"].empty());
}

/// Runs a command where ptxas and nvdisasm find kernels that end at once: 1 instruction per warp. leaves_one_out has 400 more.
ProgramResult with_tools(const std::string& command) {
    return run_program(
        R"(folder=$(mktemp -d) && mkdir $folder/bin && export CUDA_HOME=$folder XDG_CACHE_HOME=$folder
echo '#!/bin/sh
cp "$5" "$4"' >$folder/bin/ptxas
echo '#!/bin/sh
for name in $(grep -o "[.]entry _Z[A-Za-z0-9_]*" "$2" | cut -c 8-); do
    printf "\n.text.%s:\n" $name
    case $name in *leaves*) for k in $(seq 1000 1399); do
        printf "/*$k*/ NOP ; /* 0x0 */\n/* 0x000fe20000000000 */\n"
    done;; esac
    printf "/*2000*/ EXIT ; /* 0x0 */\n/* 0x000fe20000000000 */\n"
done' >$folder/bin/nvdisasm
chmod +x $folder/bin/*
)" + command +
        "\nstatus=$?; rm -r $folder; exit $status");
}

// 256 blocks of 8 warps execute 2,048 instructions. An empty launch takes 2.8 us, and starting the blocks less than 1 us.
TEST(ObservedLessonOnEmulator, shows_estimates_in_its_table_and_its_json) {
    const std::string lesson = "./wrong_lesson --n 65536 --kernel drops_the_tail --time";
    const ProgramResult text = with_tools(lesson);
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, AllOf(HasSubstr("instructions (sm_90)"), HasSubstr(" 2,048\n"),
                                HasSubstr("Estimated for an NVIDIA H200: drops_the_tail 2.")));
    const auto kernel = nlohmann::json::parse(with_tools(lesson + " --format json").out)["kernels"][0];
    EXPECT_EQ(kernel["instructions_sm_90"], 2048);
    EXPECT_EQ(kernel["data_pipe_passes"], 0);
    EXPECT_EQ(kernel["card"], "NVIDIA H200");
    EXPECT_EQ(kernel["verified"], true);
    EXPECT_NEAR(kernel["time_us_estimated"], 3, 0.5);
    EXPECT_EQ(kernel["peak_bandwidth_gbs"], 4814.304);
    EXPECT_FALSE(kernel["floors_us"].empty() || kernel["waits"].empty() || kernel["counters"].empty());
    EXPECT_TRUE(kernel.contains("error_found"));
}

TEST(ObservedLessonOnEmulator, estimates_any_size_without_a_run) {
    // 2^38 ints are 1 TiB.
    const ProgramResult result =
        with_tools("./wrong_lesson --n 2^38 --block 1024 --kernel drops_the_tail --time-only --format json");
    EXPECT_EQ(result.status, 0) << result.err;
    const auto kernel = nlohmann::json::parse(result.out)["kernels"][0];
    EXPECT_EQ(kernel["instructions_sm_90"], std::uint64_t{1} << 33); // a warp per 32 ints
    EXPECT_TRUE(kernel["verified"].is_null() && kernel["counters"].is_null());
}

TEST(ObservedLessonOnEmulator, estimates_unasked_on_a_terminal_alone) {
    const std::string lesson = "./wrong_lesson --n 65536 --kernel drops_the_tail --device emulator";
    const std::string terminal = "python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' ";
    const std::string estimate = "Estimated for an NVIDIA H200: drops_the_tail 2.";
    EXPECT_THAT(with_tools(terminal + lesson).out, AllOf(HasSubstr(estimate), HasSubstr(" us at 2^28.")));
    for (const std::string& silent : {lesson, terminal + lesson + " --format json"})
        EXPECT_THAT(with_tools(silent).out, Not(HasSubstr("stimated"))) << silent;
}

TEST(ObservedLessonOnEmulator, leaves_out_what_takes_too_long_to_estimate) {
    const ProgramResult result =
        with_tools("./emulate --time-only --at-most 0 ./wrong_lesson --n 256 --kernel drops_the_tail");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(
        result.err,
        HasSubstr("no estimate for NVIDIA H200: that takes longer than is spent unasked; ask with --time\n"));
}

// Both kernels are of one translation unit.
TEST(ObservedLessonOnEmulator, calls_a_tool_that_fails_once_for_all_kernels_of_a_unit) {
    const ProgramResult result = with_tools(
        R"(printf '#!/bin/sh\necho called >>%s/log\nexit 1\n' $folder >$folder/bin/ptxas
./wrong_lesson --n 256 --kernel drops_the_tail --kernel leaves_one_out --time >/dev/null
cat $folder/log)");
    EXPECT_EQ(result.out, "called\n") << result.err;
}

// 8 warps execute 1 and 401 instructions.
TEST(ObservedLessonOnEmulator, estimates_what_changed) {
    const std::string lesson =
        "./wrong_lesson --n 256 --kernel drops_the_tail --kernel leaves_one_out --device emulator --changed";
    const ProgramResult result = with_tools(lesson);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, testing::ContainsRegex("^ +drops_the_tail +leaves_one_out +change\n"
                                                   "an H200 would take .us. .estimate.\n"
                                                   "  for 256 ints +[23][.][0-9] +[34][.][0-9]  +x 1[.].*\n"
                                                   "counted for 256 ints\n"));
    EXPECT_THAT(result.out,
                testing::ContainsRegex("\ninstructions .sm_90.\n  per warp +8 +3,208  x 401.00\n"));
    EXPECT_THAT(result.out, Not(HasSubstr("verified")));
}

TEST(ObservedLessonOnEmulator, says_what_to_install_to_estimate_what_changed) {
    const ProgramResult result = run_program(
        "folder=$(mktemp -d) && mkdir -p $folder/build/bin && cp emulate wrong_lesson $folder/build/bin && "
        "ln -s $PWD/../emulator $folder/build && CUDA_HOME= $folder/build/bin/wrong_lesson --n 256 "
        "--kernel drops_the_tail --kernel leaves_one_out --device emulator --changed\nstatus=$?; rm -r "
        "$folder; "
        "exit $status");
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, AllOf(HasSubstr("counted for 256 ints\n"), Not(HasSubstr("stimate"))));
    EXPECT_THAT(result.err, HasSubstr("no times can be estimated: there is no "));
}

TEST(ObservedLessonOnEmulator, is_found_from_anywhere) {
    const ProgramResult result = run_program(
        "bin=$PWD && cd / && PATH=$bin wrong_lesson --n 65536 --kernel drops_the_tail --check mem");
    EXPECT_EQ(result.status, 0) << result.err;
}

} // namespace

// What a user sees when a kernel is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test_device.hpp"

using testing::AllOf, testing::HasSubstr, testing::Not;

namespace {

TEST(WrongLesson, exits_with_1_and_tells_both_values_and_the_first_wrong_place) {
    const ProgramResult result = run_lesson("wrong_lesson", "--n 1000 --kernel drops_the_tail");
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, HasSubstr(test_device().kind == harness::DeviceKind::emulator
                                          ? "\nverified                            NO\n"
                                          : "\nverified: 0 of 1 results; WRONG: drops_the_tail\n"));
    EXPECT_THAT(
        result.err,
        AllOf(HasSubstr("wrong_lesson: drops_the_tail: wrong result: expected "), HasSubstr(", got "),
              HasSubstr("drops_the_tail: pass 1, block 3 (elements 768 to 999 of 1,000): expected ")));
}

TEST(WrongLesson, escapes_the_control_characters_of_arguments) {
    // \033[2J clears a terminal, and a line of its own would look like the program's.
    for (const char* option : {"--kernel", "--n", "--block", "--seed", "--device", "--format", ""}) {
        SCOPED_TRACE(option);
        const ProgramResult result =
            run_program(std::string("./wrong_lesson ") + option + R"sh( "$(printf 'a\033[2J\nb\177')")sh");
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.err, AllOf(HasSubstr(R"(a\x1b[2J\x0ab\x7f)"), Not(HasSubstr("\033"))));
    }
    const ProgramResult result =
        run_program(R"sh(./wrong_lesson --device emulator --save "$(printf '/dev/null/a\033b')")sh");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr(R"(--save /dev/null/a\x1bb: )"), Not(HasSubstr("\033"))));
}

TEST(WrongLesson, goes_on_after_a_wrong_kernel) {
    const ProgramResult result =
        run_lesson("wrong_lesson", "--n 1000 --kernel drops_the_tail --kernel leaves_one_out --format json");
    EXPECT_EQ(result.status, 1);
    const nlohmann::json kernels = nlohmann::json::parse(result.out)["kernels"];
    ASSERT_EQ(kernels.size(), 2u);
    for (const nlohmann::json& kernel : kernels) {
        EXPECT_EQ(kernel["verified"], false);
        EXPECT_NE(kernel["expected"], kernel["actual"]);
        EXPECT_TRUE(kernel["time_us"].is_null());
    }
    EXPECT_THAT(result.err, HasSubstr("never written"));
}

TEST(WrongLesson, ends_a_sweep) {
    const ProgramResult result =
        run_program("folder=$(mktemp -d) && ./wrong_lesson --device emulator --sweep --n 4096 --save $folder "
                    "--kernel leaves_one_out; status=$?; ls $folder; rm -r $folder; exit $status");
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.out, "") << "no table";
    EXPECT_THAT(result.err, AllOf(HasSubstr("wrong_lesson: leaves_one_out: wrong result: expected "),
                                  HasSubstr("of 1,024)"), Not(HasSubstr("2,048"))));
}

TEST(WrongLesson, verifies_every_repetition) {
    EXPECT_EQ(run_lesson("wrong_lesson", "--n 65536 --kernel drops_the_tail --repeat 3 --verify").status, 0);
    EXPECT_EQ(run_lesson("wrong_lesson", "--n 1000 --kernel drops_the_tail --repeat 3 --verify").status, 1);
}

TEST(WrongLesson, exits_with_3_when_a_kernel_breaks_the_device) {
    const ProgramResult result = run_lesson("wrong_lesson", "--kernel writes_out_of_bounds");
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("writes_out_of_bounds failed while running: cudaErrorIllegalAddress"));
}

TEST(WrongLesson, leaves_out_a_kernel_that_the_card_cannot_run_and_goes_on) {
    const ProgramResult result =
        run_lesson("wrong_lesson", "--n 65536 --kernel drops_the_tail --kernel needs_a_newer_card --verify");
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.out, HasSubstr("drops_the_tail: verified"));
    EXPECT_THAT(result.err,
                HasSubstr("needs_a_newer_card is left out: miracles need compute capability 99.1"));
    EXPECT_EQ(run_lesson("wrong_lesson", "--kernel needs_a_newer_card --verify").status, 3);
    // A wrong result weighs more.
    EXPECT_EQ(
        run_lesson("wrong_lesson", "--n 1000 --kernel drops_the_tail --kernel needs_a_newer_card").status, 1);
}

TEST(WrongLesson, exits_with_3_when_the_lesson_itself_is_wrong) {
    const ProgramResult result = run_lesson("wrong_lesson", "--kernel is_not_measured");
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.err, HasSubstr("is_not_measured was not measured in its run"));
}

} // namespace

#include "harness/detail/observing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/detail/options.hpp"
#include "harness/exit_status.hpp"

using namespace harness;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::ThrowsMessage;

namespace {

Options parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "./lesson42");
    return parse_options(static_cast<int>(arguments.size()), arguments.data(),
                         {.name = "lesson42", .title = "A title"}, {"reduce1"});
}

/// What a lesson gives to `emulate` when it is called so.
std::vector<std::string> given_to_emulate(const std::vector<const char*>& arguments) {
    return parse(arguments).emulate;
}

std::vector<std::string> left_of(const std::vector<const char*>& arguments) {
    return parse(arguments).arguments;
}

TEST(Observing, is_not_needed_for_the_usual_options) {
    EXPECT_THAT(given_to_emulate({}), IsEmpty());
    EXPECT_THAT(given_to_emulate({"--verify", "--n", "5", "--format", "json"}), IsEmpty());
}

TEST(Observing, hands_its_options_on) {
    EXPECT_THAT(given_to_emulate({"--lines"}), ElementsAre("--lines"));
    EXPECT_THAT(given_to_emulate({"--check", "all"}), ElementsAre("--check=all"));
    EXPECT_THAT(given_to_emulate({"--check=mem,race", "--lines"}),
                ElementsAre("--lines", "--check=mem,race"));
    EXPECT_THAT(given_to_emulate({"--check", "--check", "race", "--check", "mem"}),
                ElementsAre("--check=all", "--check=race", "--check=mem"));
    EXPECT_THAT(given_to_emulate({"--time", "--n", "5"}), ElementsAre("--time"));
    EXPECT_THAT(given_to_emulate({"--time=h200", "--format", "json"}),
                ElementsAre("--time=h200", "--format=json"));
    EXPECT_THAT(given_to_emulate({"--time-only", "--n", "2^30", "--format", "json"}),
                ElementsAre("--time-only", "--format=json"));
    EXPECT_THAT(given_to_emulate({"--draw", "tile", "--line", "17"}),
                ElementsAre("--draw=tile", "--line=17"));
    EXPECT_THAT(given_to_emulate({"--schedule", "2^24"}), ElementsAre("--schedule=2^24"));
    EXPECT_THAT(given_to_emulate({"--schedules", "1k"}), ElementsAre("--schedules=1k"));
    EXPECT_THAT(given_to_emulate({"--devices", "4"}), ElementsAre("--devices=4"));
    EXPECT_THAT(given_to_emulate({"--check", "rase", "--draw", "bank", "--line", "-1"}),
                ElementsAre("--check=rase", "--draw=bank", "--line=-1"))
        << "which judges them";
    EXPECT_THAT(given_to_emulate({"--lines", "--format", "json"}), ElementsAre("--lines", "--format=json"));
    EXPECT_THAT(given_to_emulate({"--lines", "--color", "never"}), ElementsAre("--lines", "--color=never"));
    EXPECT_THAT(given_to_emulate({"--draw", "tile", "--format", "json"}), ElementsAre("--draw=tile"));
    EXPECT_THAT(given_to_emulate({"--schedule", "3", "--format", "json"}), ElementsAre("--schedule=3"));
}

TEST(Observing, runs_all_checkers_that_are_not_named_and_says_what_verifies) {
    EXPECT_THAT(given_to_emulate({"--check", "--n", "5"}), ElementsAre("--check=all"));
    EXPECT_THAT(given_to_emulate({"--check", "--check", "--lines"}),
                ElementsAre("--lines", "--check=all", "--check=all"));
    for (const std::vector<const char*>& old : {std::vector{"--check"}, {"--check", "--n", "5"}})
        EXPECT_EQ(parse(old).note,
                  "--check runs the checkers. To verify only, without times and counters, write --verify.");
}

TEST(Observing, leaves_the_other_options_to_the_lesson) {
    EXPECT_THAT(left_of({"--n", "5", "--lines", "--block=64"}), ElementsAre("--n", "5", "--block=64"));
    EXPECT_THAT(left_of({"--draw", "banks", "--line=3", "--n", "5"}), ElementsAre("--n", "5"));
    EXPECT_THAT(left_of({"--draw=banks", "--line", "3", "--list"}), ElementsAre("--list"));
    EXPECT_THAT(left_of({"--check", "all", "--n", "5"}), ElementsAre("--verify", "--n", "5"))
        << "verify only";
    EXPECT_THAT(left_of({"--check=all", "--n", "5"}), ElementsAre("--verify", "--n", "5"));
    EXPECT_THAT(left_of({"--check", "--n", "5"}), ElementsAre("--verify", "--n", "5"));
    EXPECT_THAT(left_of({"--schedules", "5", "--n", "5"}), ElementsAre("--verify", "--n", "5"));
    EXPECT_THAT(left_of({"--schedule=5"}), ElementsAre("--verify"));
    EXPECT_THAT(left_of({"--lines"}), IsEmpty());
}

TEST(Observing, refuses_what_emulate_could_not_judge) {
    const auto expect_error = [](const std::vector<const char*>& arguments, const char* message) {
        EXPECT_THAT([&] { given_to_emulate(arguments); }, ThrowsMessage<UsageError>(HasSubstr(message)));
    };
    expect_error({"--check", "mem", "race"}, "'race': unexpected.");
    expect_error({"--draw"}, "--draw: needs a value.");
    expect_error({"--draw", "", "--lines"}, "--draw: needs a value.");
    expect_error({"--time-only=3"}, "--time-only: takes no value.");
    expect_error({"--lines=3"}, "--lines: takes no value.");
    expect_error({"--lines", "--device", "gpu"}, "--device gpu: --lines needs the emulator.");
    expect_error({"--scedule", "3"}, "--scedule: unknown option. Did you mean --schedule?");
}

TEST(Observing, is_in_the_help) {
    const std::string help = help_text({.name = "lesson42", .title = "A title"}, {"reduce1"});
    for (const std::string name :
         {"--lines", "--check", "--draw", "--line", "--schedule", "--schedules", "--devices"})
        EXPECT_THAT(help, HasSubstr("\n  " + name + " "));
    EXPECT_THAT(help, HasSubstr("\n  --time[=CARD] "));
    EXPECT_THAT(help, HasSubstr("\n  --time-only "));
    EXPECT_THAT(help, HasSubstr("\n  10 "));
}

} // namespace

// `--check all` of every lesson: nothing is wrong with its kernels, whatever the sizes.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "lessons.hpp"
#include "run_program.hpp"

using testing::HasSubstr;

namespace {

/// One element; fewer than a warp; a tail in the last block; no power of two; more blocks than one pass.
const std::vector<std::string> sums = {"--n 1 --block 32", "--n 31 --block 64", "--n 1000 --block 128",
                                       "--n 4099 --block 256", "--n 65537 --block 512"};

const std::vector<std::string> sums_of_one_block = {"--n 1 --block 32", "--n 31 --block 64",
                                                    "--n 1000 --block 512", "--n 2047 --block 1024"};

const std::vector<std::string> clusters = {"--n 1 --block 32", "--n 31 --block 64 --blocks 3",
                                           "--n 1000 --block 1024", "--n 65537 --offset 3",
                                           "--n 4099 --block 128 --blocks 8 --offset 1"};

/// A block, a cluster of either size, one launch and a ring, as sum() chooses them or by name; the
/// exercise's.
const std::vector<std::string> strategies = {
    "--n 1",
    "--n 1000 --strategies",
    "--n 8193 --offset 1 --strategies",
    "--n 65537 --offset 3",
    "--n 131073 --strategies",
    "--n 4099 --kernel one_block --kernel small_sum --block 64 --offset 1"};

const std::vector<std::string> squares = {"", "--width 1", "--width 7 --padding 3",
                                          "--width 31 --padding 33"};

const std::vector<std::string> rectangles = {"", "--width 7 --height 5", "--width 33 --height 31 --padding 3",
                                             "--width 1 --height 13 --padding 33"};

/// One tile; a ring that is filled once, and three times and more; a short last tile; inputs that start
/// anywhere.
const std::vector<std::string> rings = {
    "--n 1 --block 32",
    "--n 31 --block 64 --offset 31",
    "--n 1000 --block 128 --kib-per-stage 2",
    "--n 300007 --block 64 --kib-per-stage 1 --stages 3 --offset 5",
    "--n 1048577 --block 256 --kib-per-stage 4 --stages 2 --offset 1",
    "--n 65537 --block 512 --kib-per-stage 8 --stages 2 --blocks-per-sm 2"};

std::vector<std::string> arguments_for(const std::string& lesson) {
    if (lesson == "lesson28") return rings;
    if (lesson == "lesson14") return sums_of_one_block;
    if (lesson == "lesson29") return clusters;
    if (lesson == "lesson30") return strategies;
    if (lesson >= "lesson19") return rectangles;
    if (lesson >= "lesson16") return squares;
    std::vector<std::string> result = sums;
    if (lesson == "lesson06") result.push_back("--n 10007 --elements-per-thread 3");
    if (lesson == "lesson08" || lesson == "lesson09") result.push_back("--n 10007 --offset 3");
    if (lesson == "lesson15") result.push_back("--n 10007 --coarsening 1");
    return result;
}

class CheckOnEmulator : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Lessons, CheckOnEmulator, testing::ValuesIn(lessons()),
                         [](const auto& info) { return info.param; });

} // namespace

TEST_P(CheckOnEmulator, finds_nothing) {
    for (const std::string& arguments : arguments_for(GetParam())) {
        const ProgramResult result = run_program("./" + GetParam() + " --check all " + arguments);
        EXPECT_EQ(result.status, 0) << arguments << '\n' << result.out << result.err;
        EXPECT_THAT(result.err, HasSubstr("no findings (mem, init, race, sync)\n")) << arguments;
    }
}

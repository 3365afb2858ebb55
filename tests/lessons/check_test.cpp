// `--check all` of every lesson finds nothing, whatever the sizes. The manifest lists them: one element,
// fewer than a warp, a tail in the last block, no power of two, more blocks than one pass.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "lessons.hpp"
#include "run_program.hpp"

using testing::HasSubstr;

namespace {

class CheckOnEmulator : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Lessons, CheckOnEmulator, testing::ValuesIn(lessons()),
                         [](const auto& info) { return info.param; });

} // namespace

TEST_P(CheckOnEmulator, finds_nothing) {
    const auto runs = manifest_of(GetParam()).at("check").get<std::vector<std::string>>();
    for (const std::string& arguments : runs) {
        const ProgramResult result = run_program("./" + GetParam() + " --check all " + arguments);
        EXPECT_EQ(result.status, 0) << arguments << '\n' << result.out << result.err;
        EXPECT_THAT(result.err, HasSubstr("no findings (mem, init, race, sync)\n")) << arguments;
    }
}

/// … and the results are right in another order for each of them, in which blocks see each other's stores
/// late.
TEST_P(CheckOnEmulator, verifies_in_other_orders) {
    const auto runs = manifest_of(GetParam()).at("check").get<std::vector<std::string>>();
    for (std::size_t k = 0; k < runs.size(); ++k) {
        const std::string arguments = " --schedule " + std::to_string(k + 1) + " " + runs[k];
        const ProgramResult result = run_program("./" + GetParam() + arguments);
        EXPECT_EQ(result.status, 0) << arguments << '\n' << result.out << result.err;
    }
}

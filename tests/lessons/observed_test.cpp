// What `emulate` observes of every lesson: `--check all` and `--lines`.
#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lessons.hpp"
#include "test_device.hpp"

using nlohmann::json;
using testing::HasSubstr;

namespace {

class CheckOnEmulator : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Lessons, CheckOnEmulator, testing::ValuesIn(lessons()),
                         [](const auto& info) { return info.param; });

using Counters = std::map<std::string, std::uint64_t>;

void add(Counters& sum, const json& counters) {
    for (const auto& [name, value] : counters.items())
        if (value != 0) sum[name] += value.get<std::uint64_t>();
}

json machine_code_of(const json& counted) {
    json counts = json::object();
    for (const char* const name : {"instructions_sm_90", "data_pipe_passes"})
        counts[name] = counted.value(name, std::uint64_t{0});
    return counts;
}

class LinesOnEmulator : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Lessons, LinesOnEmulator, testing::ValuesIn(lessons()),
                         [](const auto& info) { return info.param; });

} // namespace

/// `--check all` finds nothing, whatever the sizes. The manifest lists them: one element, fewer than a warp, a
/// tail in the last block, no power of two, more blocks than one pass.
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

/// The lines' counts add up to those of the launches: those of PTX, and those of the machine code, where it is known.
TEST_P(LinesOnEmulator, have_all_that_the_launches_counted) {
    const std::string& lesson = GetParam();
    const std::string few =
        run_program("./" + lesson + " --help").out.find("--n ") != std::string::npos ? " --n 1999" : "";
    const ProgramResult result =
        run_program("./emulate --lines --format json ./" + lesson + " --device emulator" + few);
    ASSERT_EQ(result.status, 0) << result.err;
    const json report = json::parse(result.err.substr(result.err.find('{')));

    std::map<std::string, Counters> launched; // by kernel
    for (const json& launch : report["launches"]) {
        add(launched[launch["name"]], launch["counters"]);
        add(launched[launch["name"]], machine_code_of(launch));
    }
    ASSERT_EQ(report["lines"].size(), launched.size());
    for (const json& kernel : report["lines"]) {
        const std::string name = kernel["name"];
        Counters in_lines, total;
        for (const json& function : kernel["functions"]) {
            EXPECT_EQ(function["source"], "cuda");
            EXPECT_THAT(function["file"].get<std::string>(), HasSubstr("lessons/"));
            for (const json& line : function["lines"]) {
                if (!line.contains("counters")) continue;
                add(in_lines, line["counters"]);
                add(in_lines, machine_code_of(line));
                for (const auto& [metric, ideal] : line["ideal"].items())
                    EXPECT_LE(ideal, line["counters"].value(metric, std::uint64_t{0}))
                        << name << ", " << line;
            }
        }
        add(total, kernel["counters"]);
        add(total, machine_code_of(kernel));
        if (kernel.contains("no_sm_90")) { // since one of its launches has none
            launched.at(name).erase("instructions_sm_90");
            launched.at(name).erase("data_pipe_passes");
        }
        EXPECT_EQ(in_lines, launched.at(name)) << name;
        EXPECT_EQ(total, launched.at(name)) << name;
    }
}

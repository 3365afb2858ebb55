// `--lines` of every lesson: the lines' counts add up to those of the launches.
#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "lessons.hpp"
#include "run_program.hpp"

using nlohmann::json;
using testing::HasSubstr;

namespace {

using Counters = std::map<std::string, std::uint64_t>;

void add(Counters& sum, const json& counters) {
    for (const auto& [name, value] : counters.items())
        if (value != 0) sum[name] += value.get<std::uint64_t>();
}

class LinesOnEmulator : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Lessons, LinesOnEmulator, testing::ValuesIn(lessons()),
                         [](const auto& info) { return info.param; });

} // namespace

TEST_P(LinesOnEmulator, have_all_that_the_launches_counted) {
    const std::string& lesson = GetParam();
    const std::string few =
        run_program("./" + lesson + " --help").out.find("--n ") != std::string::npos ? " --n 1999" : "";
    const ProgramResult result =
        run_program("./emulate --lines --format json ./" + lesson + " --device emulator" + few);
    ASSERT_EQ(result.status, 0) << result.err;
    const json report = json::parse(result.err.substr(result.err.find('{')));

    std::map<std::string, Counters> launched; // by kernel
    for (const json& launch : report["launches"]) add(launched[launch["name"]], launch["counters"]);
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
                for (const auto& [metric, ideal] : line["ideal"].items())
                    EXPECT_LE(ideal, line["counters"].value(metric, std::uint64_t{0}))
                        << name << ", " << line;
            }
        }
        add(total, kernel["counters"]);
        EXPECT_EQ(in_lines, launched.at(name)) << name;
        EXPECT_EQ(total, launched.at(name)) << name;
    }
}

// `ladder`, and the chart that scripts/plot_ladder draws of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "test_device.hpp"

using nlohmann::json;
using testing::AllOf, testing::ElementsAreArray, testing::HasSubstr, testing::Not;

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kernels{"reduce0", "reduce0a", "reduce1", "reduce2", "reduce3", "reduce4",
                                       "reduce5", "reduce6",  "reduce7", "reduce8", "reduce9"};
const std::string plot_ladder = std::string(PROJECT_ROOT) + "/scripts/plot_ladder ";

bool on_gpu() { return test_device().kind == harness::DeviceKind::gpu; }

std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::vector<std::string>> rows(const std::string& text) {
    std::vector<std::vector<std::string>> result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        result.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
    }
    return result;
}

/// A folder that is gone after the test.
class Ladder : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "ladder_test_XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder = name;
    }
    void TearDown() override { fs::remove_all(folder); }

    ProgramResult save(const std::string& arguments) {
        return run_lesson("ladder", arguments + " --save " + folder.string());
    }
    /// \return whether it was drawn
    void draw() {
        const ProgramResult plot = run_program(plot_ladder + folder.string());
        ASSERT_EQ(plot.status, 0) << plot.err;
        EXPECT_THAT(plot.out,
                    AllOf(HasSubstr("ladder.csv"), HasSubstr("ladder.json"), HasSubstr("ladder.svg")));
        svg = read(folder / "ladder.svg");
        const ProgramResult parsed =
            run_program("python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' " +
                        (folder / "ladder.svg").string());
        ASSERT_EQ(parsed.status, 0) << parsed.err;
    }

    fs::path folder;
    std::string svg;
};

TEST_F(Ladder, prints_eleven_verified_rows_that_fit_80_columns) {
    const ProgramResult result = run_lesson("ladder", "");
    ASSERT_EQ(result.status, 0) << result.err;
    std::vector<std::string> verified;
    for (const std::vector<std::string>& words : rows(result.out)) {
        if (words.size() > 5 && words[0].starts_with("reduce")) verified.push_back(words[0]);
    }
    EXPECT_THAT(verified, ElementsAreArray(kernels));
    EXPECT_THAT(result.out, HasSubstr("\nverified: all 11 results\n"));
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(Ladder, counts_the_barriers_that_a_thread_comes_to) {
    if (on_gpu()) return; // a GPU's table has times
    std::map<std::string, std::string> barriers;
    for (const std::vector<std::string>& words : rows(run_lesson("ladder", "--n 2^20").out)) {
        if (words.size() == 8) barriers[words[0]] = words[7];
    }
    // Blocks of 256. One after the load and one for each of 8 steps; from reduce4 on the steps with strides
    // of 128 and 64 only; reduce7 and reduce8 one between the warps.
    for (const char* kernel : {"reduce0", "reduce0a", "reduce1", "reduce2", "reduce3"})
        EXPECT_EQ(barriers[kernel], "9") << kernel;
    for (const char* kernel : {"reduce4", "reduce5", "reduce6"}) EXPECT_EQ(barriers[kernel], "3") << kernel;
    for (const char* kernel : {"reduce7", "reduce8"}) EXPECT_EQ(barriers[kernel], "1") << kernel;
}

TEST_F(Ladder, saves_what_it_measured_as_json_and_csv) {
    const ProgramResult result = save("--n 100000 --seed 7 --format json");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, read(folder / "ladder.json")) << "the same run";
    const json report = json::parse(result.out);
    EXPECT_EQ(report["lesson"], "ladder");
    std::vector<std::string> names;
    for (const json& kernel : report["kernels"]) {
        names.push_back(kernel["name"]);
        EXPECT_EQ(kernel["verified"], true) << kernel["name"];
        EXPECT_EQ(kernel["counters"].is_null(), on_gpu());
    }
    EXPECT_THAT(names, ElementsAreArray(kernels));

    std::istringstream lines(read(folder / "ladder.csv"));
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_THAT(line, HasSubstr("lesson,title,device_kind,"));
    for (const std::string& kernel : kernels) {
        ASSERT_TRUE(std::getline(lines, line));
        EXPECT_THAT(line, HasSubstr("," + kernel + ","));
    }
    EXPECT_FALSE(std::getline(lines, line)) << line;
}

TEST_F(Ladder, is_drawn_beside_the_published_figures) {
    ASSERT_EQ(save("--n 100000").status, 0);
    ASSERT_NO_FATAL_FAILURE(draw());
    for (const std::string& kernel : kernels) EXPECT_THAT(svg, HasSubstr(">" + kernel + "</text>"));
    EXPECT_THAT(svg, HasSubstr("Published elsewhere: V100"));
    EXPECT_THAT(svg, AllOf(HasSubstr("165.57 (18.4 %)"), HasSubstr("783.25 (87.03 %)"), HasSubstr("GB/s")));
    EXPECT_EQ(svg.find("Emulated") == std::string::npos, on_gpu());
    EXPECT_THAT(svg, HasSubstr(on_gpu() ? ", median" : "percent of reduce0"));
}

TEST_F(Ladder, is_drawn_with_bandwidths_where_there_are_some) {
    ASSERT_EQ(save("--n 1000").status, 0);
    json report = json::parse(read(folder / "ladder.json"));
    report["device"]["name"] = "A <card> & co";
    report["device"]["peak_bandwidth_gbs"] = 2000;
    for (json& kernel : report["kernels"]) {
        kernel["counters"] = nullptr;
        kernel["bandwidth_gbs"] = 1234.4;
        kernel["peak_fraction"] = 0.6172;
    }
    report["kernels"].push_back(report["kernels"].back());
    report["kernels"].back()["name"] = "cub::Sum";
    std::ofstream(folder / "ladder.json") << report;
    ASSERT_NO_FATAL_FAILURE(draw());
    EXPECT_THAT(svg, AllOf(HasSubstr("1234 (61.7 %)"), HasSubstr("peak 2000"), HasSubstr(">cub::Sum<"),
                           HasSubstr("not published"), HasSubstr("A &lt;card&gt; &amp; co"),
                           Not(HasSubstr("Emulated"))));
}

TEST_F(Ladder, is_drawn_with_complete_sums_where_all_have_some) {
    ASSERT_EQ(save("--n 250000").status, 0);
    json report = json::parse(read(folder / "ladder.json"));
    report["device"]["peak_bandwidth_gbs"] = 2000;
    for (json& kernel : report["kernels"]) {
        kernel["counters"] = nullptr;
        kernel["bandwidth_gbs"] = 1234.4;
        kernel["peak_fraction"] = 0.6172;
        kernel["complete_time_us"] = {{"median", 1.0}}; // 1,000,000 bytes
    }
    std::ofstream(folder / "ladder.json") << report;
    ASSERT_NO_FATAL_FAILURE(draw());
    EXPECT_THAT(svg,
                AllOf(HasSubstr("1234 (61.7 %)"), HasSubstr("1000 (50.0 %)"), HasSubstr("complete sum")));

    // Beside the others it would look as if it took no time.
    report["kernels"][3]["complete_time_us"] = nullptr;
    std::ofstream(folder / "ladder.json") << report;
    ASSERT_NO_FATAL_FAILURE(draw());
    EXPECT_THAT(svg, Not(HasSubstr("complete sum")));
}

TEST_F(Ladder, cannot_be_drawn_without_figures) {
    ASSERT_EQ(save("--n 1000 --verify").status, 0);
    const ProgramResult empty = run_program(plot_ladder + folder.string());
    EXPECT_EQ(empty.status, 1);
    EXPECT_THAT(empty.err, HasSubstr("neither bandwidths nor counters"));
    const ProgramResult missing = run_program(plot_ladder + (folder / "nowhere").string());
    EXPECT_EQ(missing.status, 1);
    EXPECT_THAT(missing.err, HasSubstr("ladder.json"));
    EXPECT_EQ(run_program(plot_ladder).status, 2);
}

TEST_F(Ladder, rejects_what_it_does_not_know) {
    EXPECT_THAT(run_program("./ladder --kernel reduce10").err, HasSubstr("--kernel reduce10: unknown."));
    EXPECT_EQ(run_program("./ladder --kernel reduce10").status, 2);
    EXPECT_EQ(run_program("./ladder --offset 3").status, 2);
    EXPECT_EQ(run_program("./ladder --block 48").status, 2);
    EXPECT_THAT(run_program("./ladder --save ''").err, HasSubstr("--save: empty."));
    const ProgramResult nowhere = run_lesson("ladder", "--n 1000 --save /dev/null/folder");
    EXPECT_EQ(nowhere.status, 2);
    EXPECT_THAT(nowhere.err, HasSubstr("--save /dev/null/folder: no such folder can be made"));
    EXPECT_EQ(nowhere.out, "") << "told before the work is done";
}

TEST(Published, figures_agree_with_their_times) {
    // All but the first: 128 MiB over the time. (The bandwidth of reduce0 is as published: an erratum.)
    std::istringstream lines(read(fs::path(PROJECT_ROOT) / "docs/data/published/v100.csv"));
    std::vector<std::string> names;
    bool has_source = false;
    for (std::string line; std::getline(lines, line);) {
        has_source = has_source || line.starts_with("# source: https://");
        if (!line.starts_with("reduce")) continue;
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream row(line);
        std::string name;
        double nanoseconds = 0, bandwidth = 0, percent = 0;
        ASSERT_TRUE(row >> name >> nanoseconds >> bandwidth >> percent) << line;
        names.push_back(name);
        EXPECT_NEAR(bandwidth, 134'217'728 / nanoseconds, name == "reduce0" ? 1.4 : 0.01)
            << line; // cut, not rounded
        EXPECT_NEAR(percent, bandwidth / 900 * 100, 0.02) << line;
    }
    EXPECT_TRUE(has_source);
    EXPECT_THAT(names, ElementsAreArray(kernels));
}

} // namespace

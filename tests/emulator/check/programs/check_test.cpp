// Every program in the folders mem, init, race and sync, run by `emulate --check`. A program is a section of
// a file:
//
//     // ---- its_name ---------------------
//     // Its comment.
//     // options: what goes to emulate too, if anything
//     its kernels
//     LAUNCHES(its_name) { its host part }, or PROGRAM(its_name) with a verdict of its own
//
// A comment in it,
//
//     data[i] = 0; // expect: mem, out of bounds
//
// says what has to be found, and that it has to be found on this line; there may be two such comments. With
// `expect 5:` it has to be found in five kernels.
// Nothing else may be. A program without such a comment is correct: none of the checkers may find anything,
// whatever the order of its threads.
//
// The programs mutants_* print a line for each of their kernels, too: "correct…: 42" or "mutant…: 42". No
// order of blocks changes those of the correct ones, and some order that of each mutant.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Found {
    std::string what;  ///< "mem, out of bounds"
    std::string where; ///< "out_of_bounds.cu:6"; empty: in a call of the host, which has no line

    friend bool operator==(const Found& a, const Found& b) {
        return a.what == b.what && (a.where == b.where || a.where.empty() || b.where.empty());
    }
    friend std::ostream& operator<<(std::ostream& out, const Found& found) {
        return out << found.what << " at " << (found.where.empty() ? "a call of the host" : found.where);
    }
};

struct Checked {
    std::string folder, name, options;
    std::vector<Found> expected;

    friend std::ostream& operator<<(std::ostream& out, const Checked& program) { return out << program.name; }
};

void read_programs(const fs::path& path, std::vector<Checked>& programs) {
    const std::regex section("// ---- ([a-z_]+) -+"), comment("// expect( [0-9]+)?: (.*?)(?= // |$)");
    const std::string options = "// options:";
    std::ifstream file(path);
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (std::smatch match; std::regex_match(line, match, section))
            programs.push_back({path.parent_path().filename(), match[1], "", {}});
        if (line.starts_with(options)) programs.back().options = line.substr(options.size());
        for (std::sregex_iterator match(line.begin(), line.end(), comment), end; match != end; ++match)
            programs.back().expected.insert(
                programs.back().expected.end(), (*match)[1].matched ? std::stoul((*match)[1]) : 1,
                {(*match)[2], path.filename().string() + ":" + std::to_string(number)});
    }
}

std::vector<Checked> all_programs() {
    std::vector<Checked> programs;
    for (const auto& entry : fs::recursive_directory_iterator(CHECK_PROGRAMS))
        if (entry.path().extension() == ".cu") read_programs(entry.path(), programs);
    std::ranges::sort(programs, {},
                      [](const Checked& program) { return std::pair(program.folder, program.name); });
    return programs;
}

std::vector<Checked> mutants() {
    std::vector<Checked> programs = all_programs();
    std::erase_if(programs, [](const Checked& program) { return !program.name.starts_with("mutants_"); });
    return programs;
}

struct Report {
    int status = 0;     ///< of emulate
    std::string output; ///< the program's
    nlohmann::json json{};
};

Report emulate(const std::string& options, const Checked& program) {
    const fs::path bin = fs::read_symlink("/proc/self/exe").parent_path();
    const fs::path file = fs::temp_directory_path() / ("check_test_" + std::to_string(getpid()));
    const std::string command = "cd '" + bin.string() + "' && ./emulate --format json --output '" +
                                file.string() + "' " + options + " ./check_" + program.folder + " " +
                                program.name + " 2>/dev/null";
    Report report;
    FILE* const pipe = popen(command.c_str(), "r");
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) report.output += static_cast<char>(c);
    const int status = pclose(pipe);
    report.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    report.json = nlohmann::json::parse(std::ifstream(file), nullptr, false);
    fs::remove(file);
    return report;
}

Found found(const nlohmann::json& finding) {
    Found result{finding.at("checker").get<std::string>() + ", " + finding.at("kind").get<std::string>(), ""};
    const auto& parties = finding.at("parties");
    if (!parties.empty()) result.where = fs::path(parties[0].at("where").get<std::string>()).filename();
    return result;
}

/// Members of every finding; host findings have no kernel, and wild accesses no memory.
std::string what_is_missing(const nlohmann::json& finding) {
    std::string missing;
    for (const char* const text : {"message", "cause"})
        if (finding.at(text).get<std::string>().empty()) missing += std::string(" ") + text;
    const auto& parties = finding.at("parties");
    const bool is_race = finding.at("checker") == "race";
    if (parties.size() != 2 && is_race) missing += " both parties";
    if (finding.at("allocation").get<std::string>().empty() && (is_race || finding.at("checker") == "init"))
        missing += " allocation";
    if (finding.at("kernel").get<std::string>().empty()) return missing;
    if (parties.empty()) missing += " parties";
    for (const auto& party : parties) {
        if (!party.at("operation").get<std::string>().empty())
            continue; // as a whole, maybe a call of the host
        for (const char* const text : {"role", "block", "thread", "where"})
            if (party.at(text).get<std::string>().empty()) missing += std::string(" ") + text;
    }
    return missing;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

class Program : public testing::TestWithParam<Checked> {};
class Mutants : public testing::TestWithParam<Checked> {};

} // namespace

TEST_P(Program, gets_the_findings_that_it_asks_for) {
    const std::vector<Found>& expected = GetParam().expected;
    const std::string options = "--check all --leaks" + GetParam().options;
    for (const std::string order : {"", " --schedule 1", " --schedule 2"}) {
        if (!order.empty() && !expected.empty()) continue;
        const Report report = emulate(options + order, GetParam());
        ASSERT_TRUE(report.json.is_object()) << "status " << report.status;
        std::vector<Found> actual;
        for (const auto& finding : report.json.at("findings")) {
            actual.push_back(found(finding));
            EXPECT_EQ(what_is_missing(finding), "") << finding.dump(2);
        }
        EXPECT_THAT(actual, testing::UnorderedElementsAreArray(expected))
            << order << report.json.at("findings").dump(2);
        EXPECT_EQ(report.json.at("exit_status"), 0) << "the program goes on";
        EXPECT_EQ(report.status, expected.empty() ? 0 : 10);
    }
}

/// A load that may be late is so in every other seed. Each mutant has one at least: 20 seeds miss it once in
/// a million.
TEST_P(Mutants, print_a_wrong_result_in_some_order) {
    constexpr int seeds = 20;
    const std::vector<std::string> right = lines_of(emulate("--counters", GetParam()).output);
    std::set<std::string> never_wrong;
    for (const std::string& line : right)
        if (line.starts_with("mutant")) never_wrong.insert(line);
    ASSERT_FALSE(never_wrong.empty() || never_wrong.size() == right.size());
    for (int seed = 1; seed <= seeds && !never_wrong.empty(); ++seed) {
        const Report report = emulate("--counters --schedule " + std::to_string(seed), GetParam());
        EXPECT_EQ(report.status, 0);
        const std::vector<std::string> lines = lines_of(report.output);
        ASSERT_EQ(lines.size(), right.size());
        for (std::size_t k = 0; k < lines.size(); ++k) {
            if (lines[k] == right[k]) continue;
            EXPECT_TRUE(right[k].starts_with("mutant"))
                << "seed " << seed << ": " << lines[k] << ", not " << right[k];
            never_wrong.erase(right[k]);
        }
    }
    EXPECT_THAT(never_wrong, testing::IsEmpty());

    const Report report = emulate("--schedules " + std::to_string(seeds), GetParam());
    EXPECT_EQ(report.status, 10);
    EXPECT_TRUE(report.json.at("difference").is_object());
}

INSTANTIATE_TEST_SUITE_P(Check, Program, testing::ValuesIn(all_programs()),
                         [](const auto& test) { return test.param.folder + "_" + test.param.name; });

INSTANTIATE_TEST_SUITE_P(Check, Mutants, testing::ValuesIn(mutants()),
                         [](const auto& test) { return test.param.name; });

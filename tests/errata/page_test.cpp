// docs/errata.md and the tests in errata_test.cu are about the same things: each entry quotes two lines of
// its test and names it, and each test has its entry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

const std::filesystem::path root = PROJECT_ROOT;
using Lines = std::vector<std::string>;

Lines read_lines(const std::filesystem::path& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path << " cannot be read";
    Lines lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

std::string join(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

/// A section of the page: its heading, the lines of its code, and the tests that it names.
struct Entry {
    std::string heading;
    Lines code;
    Lines tests;
};

std::vector<Entry> read_entries() {
    static const std::regex numbered("## \\d+\\. .*"), named("`Errata\\.(\\w+)`");
    std::vector<Entry> entries;
    bool in_code = false;
    for (const std::string& line : read_lines(root / "docs/errata.md")) {
        if (std::regex_match(line, numbered)) entries.push_back({.heading = line, .code = {}, .tests = {}});
        if (entries.empty()) continue;
        if (line.starts_with("```")) {
            in_code = line == "```cpp";
        } else if (in_code) {
            entries.back().code.push_back(line);
        } else {
            for (std::sregex_iterator match(line.begin(), line.end(), named), end; match != end; ++match)
                entries.back().tests.push_back((*match)[1]);
        }
    }
    return entries;
}

/// The lines of the test's body.
std::string body_of_test(const std::string& name) {
    static const Lines source = read_lines(root / "tests/errata/errata_test.cu");
    Lines body;
    bool inside = false;
    for (const std::string& line : source) {
        if (line == "}") inside = false;
        if (inside) body.push_back(line);
        if (line == "TEST(Errata, " + name + ") {") inside = true;
    }
    return join(body);
}

Lines names_of_tests() {
    Lines names;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        if (std::string(suite.name()) != "Errata") continue;
        for (int k = 0; k < suite.total_test_count(); ++k) names.emplace_back(suite.GetTestInfo(k)->name());
    }
    return names;
}

TEST(ErrataPage, has_an_entry_for_each_test_and_a_test_for_each_entry) {
    Lines named;
    for (const Entry& entry : read_entries()) {
        EXPECT_THAT(entry.tests, testing::SizeIs(1)) << entry.heading;
        named.insert(named.end(), entry.tests.begin(), entry.tests.end());
    }
    EXPECT_THAT(named, testing::UnorderedElementsAreArray(names_of_tests()));
}

TEST(ErrataPage, quotes_two_lines_of_each_test) {
    for (const Entry& entry : read_entries()) {
        EXPECT_THAT(entry.code, testing::SizeIs(2)) << entry.heading;
        ASSERT_THAT(entry.tests, testing::SizeIs(1)) << entry.heading;
        EXPECT_THAT(body_of_test(entry.tests[0]), testing::HasSubstr(join(entry.code))) << entry.heading;
    }
}

TEST(ErrataPage, numbers_its_entries) {
    const std::vector<Entry> entries = read_entries();
    ASSERT_FALSE(entries.empty());
    for (std::size_t i = 0; i < entries.size(); ++i)
        EXPECT_THAT(entries[i].heading, testing::StartsWith("## " + std::to_string(i + 1) + ". "));
}

} // namespace

// Tables of figures measured on a card are those of the records in docs/data.
//
//   | NVIDIA H200, 268,435,456 ints | time [us] | GB/s | % of peak |              a row for each kernel
//   | NVIDIA H200, reduce0, 4,194,304 ints | emulator | Nsight Compute |          a row for each metric
//   | NVIDIA H200, `lesson21 --padding 1` | time [ns] |                           a row for each kernel of a
//   tile
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "run_program.hpp"

namespace {

namespace fs = std::filesystem;
using Row = std::map<std::string, std::string>; // a line of a record, by the names in its head

const fs::path root = PROJECT_ROOT;

/// The fields between separators; quotes hold a field with separators in it together.
std::vector<std::string> split(const std::string& line, char separator) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == separator && !quoted)
            fields.emplace_back();
        else
            fields.back() += c;
    }
    return fields;
}

std::vector<Row> read_record(const fs::path& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::vector<std::string> names;
    std::vector<Row> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#")) continue;
        const auto fields = split(line, ',');
        if (names.empty()) {
            names = fields;
            continue;
        }
        rows.emplace_back();
        for (std::size_t i = 0; i < fields.size() && i < names.size(); ++i) rows.back()[names[i]] = fields[i];
    }
    return rows;
}

/// 1234567.89 -> "1,234,567.9"
std::string grouped(double value, int decimals) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.*f", decimals, value);
    const std::string text = digits;
    const std::size_t point = std::min(text.find('.'), text.size());
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i > 0 && i < point && (point - i) % 3 == 0) result += ',';
        result += text[i];
    }
    return result;
}

std::string without_commas(std::string text) {
    std::erase(text, ',');
    return text;
}

/// "NVIDIA H200" -> docs/data/nvidia-h200
fs::path record_of(std::string card, const char* name) {
    for (char& c : card) c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return root / "docs/data" / card / name;
}

/// The first row with these values.
const Row& find_row(const std::vector<Row>& rows, const Row& wanted) {
    for (const Row& row : rows) {
        const auto agrees = [&](const auto& cell) { return row.at(cell.first) == cell.second; };
        if (std::all_of(wanted.begin(), wanted.end(), agrees)) return row;
    }
    std::string text = "no record of";
    for (const auto& [name, value] : wanted) text += " " + name + "=" + value;
    throw std::runtime_error(text);
}

struct Table {
    std::smatch head;
    std::string head_text;
    std::vector<std::vector<std::string>> rows; // cells without blanks around them
};

/// All tables of a page whose head matches.
std::vector<Table> tables(const fs::path& page, const std::regex& head) {
    std::ifstream file(page);
    std::vector<Table> result;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
        if (std::regex_match(line, head)) {
            result.emplace_back();
            result.back().head_text = line;
            inside = true;
        } else if (!line.starts_with("|")) {
            inside = false;
        } else if (inside && !line.starts_with("|--")) {
            std::vector<std::string> cells;
            for (std::string cell : split(line.substr(1, line.size() - 2), '|')) {
                cell.erase(0, cell.find_first_not_of(" `"));
                cell.erase(cell.find_last_not_of(" `") + 1);
                cells.push_back(cell);
            }
            result.back().rows.push_back(cells);
        }
    }
    for (Table& table : result) std::regex_match(table.head_text, table.head, head);
    return result;
}

/// The lessons' pages, and those that are not of a lesson.
std::vector<fs::path> pages() {
    std::vector<fs::path> pages;
    for (const auto& entry : fs::directory_iterator(root / "lessons"))
        if (entry.path().filename().string().starts_with("lesson"))
            pages.push_back(entry.path() / "README.md");
    for (const auto& entry : fs::directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    return pages;
}

/// "lesson03", or nothing if the page is no lesson's.
std::string lesson_of(const fs::path& page) {
    const std::string folder = page.parent_path().filename().string();
    return folder.starts_with("lesson") ? folder.substr(0, 8) : "";
}

TEST(RecordedFigures, of_times_are_those_in_the_record) {
    const std::regex head(R"(\| (NVIDIA [^,|]+), ([\d,]+) ints \| time \[us\] \| GB/s \| % of peak \|)");
    for (const fs::path& page : pages()) {
        SCOPED_TRACE(page);
        const std::string lesson = lesson_of(page);
        const bool on_ladder = lesson < "lesson10";
        const auto found = tables(page, head);
        if (!lesson.empty() && lesson < "lesson16") {
            EXPECT_GE(found.size(), 1u) << "each lesson shows what was measured";
        }
        for (const Table& table : found) {
            const auto record =
                read_record(record_of(table.head[1], on_ladder ? "ladder.csv" : "lessons.csv"));
            EXPECT_GE(table.rows.size(), 2u);
            for (const auto& cells : table.rows) {
                const Row row = find_row(record, {{"lesson", on_ladder ? "ladder" : lesson},
                                                  {"name", cells.at(0)},
                                                  {"elements", without_commas(table.head[2])}});
                EXPECT_EQ(cells.at(1), grouped(std::stod(row.at("time_us_median")), 1)) << cells[0];
                EXPECT_EQ(cells.at(2), grouped(std::stod(row.at("bandwidth_gbs")), 1)) << cells[0];
                EXPECT_EQ(cells.at(3), grouped(100 * std::stod(row.at("peak_fraction")), 1)) << cells[0];
            }
        }
    }
}

TEST(RecordedFigures, of_tiles_are_those_in_the_record) {
    const std::regex head(R"(\| (NVIDIA [^,|]+), `(lesson\d\d) ?([^`|]*)` \| time \[ns\] \|)");
    for (const fs::path& page : pages()) {
        SCOPED_TRACE(page);
        const std::string lesson = lesson_of(page);
        const auto found = tables(page, head);
        if (lesson >= "lesson16" && lesson < "lesson28") {
            EXPECT_GE(found.size(), 1u) << "each lesson shows what was measured";
        }
        for (const Table& table : found) {
            const auto record = read_record(record_of(table.head[1], "ncu.csv"));
            EXPECT_FALSE(table.rows.empty());
            for (const auto& cells : table.rows) {
                const Row row = find_row(
                    record,
                    {{"program", table.head[2]}, {"arguments", table.head[3]}, {"kernel", cells.at(0)}});
                EXPECT_EQ(cells.at(1), grouped(std::stod(row.at("gpu__time_duration.sum")), 0)) << cells[0];
            }
        }
    }
}

TEST(RecordedFigures, of_steps_are_those_in_the_record) {
    const std::regex head(R"(\| (NVIDIA [^,|]+), steps of ([\d,]+) ints \| cold \[us\] \| warm \[us\] \|)");
    const auto found = tables(root / "lessons/lesson29_one_cluster/README.md", head);
    ASSERT_EQ(found.size(), 1u);
    const auto record = read_record(record_of(found[0].head[1], "limit_steps.csv"));
    EXPECT_EQ(found[0].rows.size(), 9u);
    for (const auto& cells : found[0].rows) {
        const auto time = [&](const char* mode) {
            const Row wanted{{"n", without_commas(found[0].head[2])}, {"mode", mode}, {"step", cells.at(0)}};
            return grouped(std::stod(find_row(record, wanted).at("time_us_median")), 2);
        };
        EXPECT_EQ(cells.at(1), time("cold")) << cells[0];
        EXPECT_EQ(cells.at(2), time("warm")) << cells[0];
    }
}

TEST(RecordedFigures, of_bytes_in_flight_are_the_fastest_in_the_record) {
    const std::regex head(R"(\| (NVIDIA [^,|]+), ([\d,]+) ints in flight \|.*)");
    const auto found = tables(root / "lessons/lesson28_bytes_in_flight/README.md", head);
    ASSERT_EQ(found.size(), 1u);
    const auto record = read_record(record_of(found[0].head[1], "limit_in_flight.csv"));
    EXPECT_GE(found[0].rows.size(), 8u);
    for (const auto& cells : found[0].rows) {
        Row fastest{{"bandwidth_gbs", "0"}};
        for (const Row& row : record)
            if (row.at("n") == without_commas(found[0].head[2]) && row.at("kernel") == cells.at(0) &&
                row.at("bytes_in_flight_per_sm") == std::to_string(1024 * std::stoi(cells.at(1))) &&
                std::stod(row.at("bandwidth_gbs")) > std::stod(fastest.at("bandwidth_gbs")))
                fastest = row;
        ASSERT_TRUE(fastest.contains("stages")) << cells[0] << ' ' << cells[1];
        EXPECT_EQ(cells.at(2), fastest.at("stages"));
        EXPECT_EQ(cells.at(3), std::to_string(std::stoi(fastest.at("stage_bytes")) / 1024));
        EXPECT_EQ(cells.at(4), fastest.at("blocks_per_sm"));
        EXPECT_EQ(cells.at(5), grouped(std::stod(fastest.at("bandwidth_gbs")), 1));
        EXPECT_EQ(cells.at(6), grouped(100 * std::stod(fastest.at("peak_fraction")), 1));
    }
}

TEST(RecordedFigures, of_counters_are_the_emulators_and_those_in_the_record) {
    const std::regex head(R"(\| (NVIDIA [^,|]+), (\w+), ([\d,]+) ints \| emulator \| Nsight Compute \|)");
    std::size_t count = 0;
    for (const fs::path& page : pages()) {
        SCOPED_TRACE(page);
        for (const Table& table : tables(page, head)) {
            const std::string kernel = table.head[2], elements = without_commas(table.head[3]);
            const auto record = read_record(record_of(table.head[1], "ncu.csv"));
            const Row row = find_row(
                record, {{"program", "ladder"}, {"arguments", "--n " + elements}, {"kernel", kernel}});
            const ProgramResult run =
                run_lesson("ladder", "--format json --kernel " + kernel + " --n " + elements);
            ASSERT_EQ(run.status, 0) << run.err;
            const auto counters = nlohmann::json::parse(run.out)["kernels"][0]["counters"];
            for (const auto& cells : table.rows) {
                const std::string& metric = cells.at(0);
                // Another nvcc writes other PTX.
                if (metric.starts_with("l1tex") || std::string(NVCC_VERSION).starts_with("13.0.")) {
                    EXPECT_EQ(cells.at(1), grouped(counters.at(metric).get<double>(), 0)) << metric;
                }
                EXPECT_EQ(cells.at(2), grouped(std::stod(row.at(metric)), 0)) << metric;
                ++count;
            }
        }
    }
    EXPECT_GE(count, 1u) << "no table found";
}

} // namespace

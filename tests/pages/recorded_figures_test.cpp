// Tables of figures measured on a card are those of the records in docs/data.
//
//   | NVIDIA H200, 268,435,456 ints | time [us] | GB/s | % of peak |              a row for each kernel
//   | NVIDIA H200, reduce0, 4,194,304 ints | emulator | Nsight Compute |          a row for each metric
//   | NVIDIA H200, cold [us], n | offset | `sum` | …                              a row for each case of
//   lesson 30 | NVIDIA H200, `lesson21 --padding 1` | time [ns] |                           a row for each
//   kernel of a tile
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "run_program.hpp"

namespace recorded_figures_test {
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

/// The contents of a lesson's manifest; nothing for other pages.
nlohmann::json manifest_beside(const fs::path& page) {
    if (lesson_of(page).empty()) return {{"part", ""}, {"measure", nlohmann::json::object()}};
    return nlohmann::json::parse(std::ifstream(page.parent_path() / "course/lesson.json"));
}

/// Whether a card's record has times of the lesson.
bool is_recorded(const std::string& lesson) {
    for (const auto& card : fs::directory_iterator(root / "docs/data")) {
        if (!fs::exists(card.path() / "lessons.csv")) continue;
        const auto record = read_record(card.path() / "lessons.csv");
        if (std::any_of(record.begin(), record.end(),
                        [&](const Row& row) { return row.at("lesson") == lesson; }))
            return true;
    }
    return false;
}

TEST(RecordedFigures, of_times_are_those_in_the_record) {
    const std::regex head(R"(\| (NVIDIA [^,|]+), ([\d,]+) ints \| time \[us\] \| GB/s \| % of peak \|)");
    for (const fs::path& page : pages()) {
        SCOPED_TRACE(page);
        const std::string lesson = lesson_of(page);
        const nlohmann::json manifest = manifest_beside(page);
        const bool on_ladder = lesson.empty() || manifest["part"] == "ladder";
        const auto found = tables(page, head);
        if (manifest["part"] == "ladder" || is_recorded(lesson)) {
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

/// Checks a lesson's tables of complete times with a row per shape of a matrix and a column per kernel.
/// PyTorch has a record of its own, of a cold cache. Gives back how many rows there were.
std::size_t check_times_by_shape(const fs::path& page, const std::string& lesson) {
    const std::regex head(R"(\| (NVIDIA [^,|]+) \[us\] \|((?: \S+ \|)+))");
    const std::regex shape(R"(--rows (\d+) --columns (\d+).*)");
    std::size_t checked = 0;
    for (const Table& table : tables(page, head)) {
        const auto record = read_record(record_of(table.head[1], "practice.csv"));
        const auto torch = read_record(record_of(table.head[1], "practice_torch.csv"));
        std::vector<std::string> kernels;
        std::istringstream names(table.head[2]);
        for (std::string name; names >> name;)
            if (name != "|") kernels.push_back(name);
        for (const auto& cells : table.rows) {
            std::smatch matrix;
            if (!std::regex_match(cells.at(0), matrix, shape)) {
                ADD_FAILURE() << cells[0] << " is no shape: --rows R --columns C";
                continue;
            }
            for (std::size_t k = 0; k < kernels.size(); ++k) {
                const bool is_torch = kernels[k] == "torch.softmax";
                const Row row =
                    is_torch
                        ? find_row(torch, {{"rows", matrix[1]}, {"columns", matrix[2]}, {"mode", "cold"}})
                        : find_row(record, {{"lesson", lesson}, {"name", kernels[k]}, {"options", cells[0]}});
                const char* const column = is_torch ? "time_us_median" : "complete_time_us_median";
                EXPECT_EQ(cells.at(k + 1), grouped(std::stod(row.at(column)), 1))
                    << cells[0] << ", " << kernels[k];
            }
            ++checked;
        }
    }
    return checked;
}

TEST(RecordedFigures, of_reductions_in_practice_are_those_in_the_record) {
    const std::regex head(
        R"(\| (NVIDIA [^,|]+), ([\d,]+) \w+(?:, `([^`]*)`)? \| first pass \[us\] \| complete \[us\] \| (\S+) / complete \|)");
    const auto complete = [](const Row& row) { return std::stod(row.at("complete_time_us_median")); };
    const auto measured = read_record(root / "docs/data/nvidia-h200/practice.csv");
    for (const fs::path& page : pages()) {
        SCOPED_TRACE(page);
        const std::string lesson = lesson_of(page);
        const bool is_measured = std::any_of(measured.begin(), measured.end(),
                                             [&](const Row& row) { return row.at("lesson") == lesson; });
        const auto found = tables(page, head);
        const auto by_shape = check_times_by_shape(page, lesson);
        EXPECT_EQ(!found.empty() || by_shape > 0, is_measured)
            << "each lesson of part practice shows what was measured";
        for (const Table& table : found) {
            const auto record = read_record(record_of(table.head[1], "practice.csv"));
            const auto row_of = [&](const std::string& kernel) {
                return find_row(record, {{"lesson", lesson},
                                         {"name", kernel},
                                         {"elements", without_commas(table.head[2])},
                                         {"options", table.head[3].str()}});
            };
            EXPECT_GE(table.rows.size(), 2u);
            for (const auto& cells : table.rows) {
                const Row row = row_of(cells.at(0));
                EXPECT_EQ(cells.at(1), grouped(std::stod(row.at("time_us_median")), 1)) << cells[0];
                EXPECT_EQ(cells.at(2), grouped(complete(row), 1)) << cells[0];
                const double ratio = complete(row_of(table.head[4])) / complete(row);
                char text[32]; // two digits after the point, or two that are not 0
                std::snprintf(text, sizeof text, ratio < 0.01 ? "%.2g" : "%.2f", ratio);
                EXPECT_EQ(cells.at(3), text) << cells[0];
            }
        }
    }
}

TEST(RecordedFigures, of_complete_sums_are_those_in_the_record) {
    const std::regex head(
        R"(\| (NVIDIA [^,|]+), complete sums of ([\d,]+) ints \| first launch \[us\] \| all launches \[us\] \| CUB / all launches \|)");
    const auto found = tables(root / "docs/measuring.md", head);
    ASSERT_EQ(found.size(), 1u);
    const auto record = read_record(record_of(found[0].head[1], "ladder.csv"));
    const std::string elements = without_commas(found[0].head[2]);
    const auto number = [&](const std::string& kernel, const char* column) {
        return std::stod(find_row(record, {{"name", kernel}, {"elements", elements}}).at(column));
    };
    EXPECT_EQ(found[0].rows.size(), 15u);
    for (const auto& cells : found[0].rows) {
        const double complete = number(cells.at(0), "complete_time_us_median");
        EXPECT_EQ(cells.at(1), grouped(number(cells[0], "time_us_median"), 1)) << cells[0];
        EXPECT_EQ(cells.at(2), grouped(complete, 1)) << cells[0];
        EXPECT_EQ(cells.at(3), grouped(number("cub::Sum", "complete_time_us_median") / complete, 3))
            << cells[0];
    }
}

TEST(RecordedFigures, of_tiles_are_those_in_the_record) {
    const std::regex head(R"(\| (NVIDIA [^,|]+), `(lesson\d\d) ?([^`|]*)` \| time \[ns\] \|)");
    for (const fs::path& page : pages()) {
        SCOPED_TRACE(page);
        const auto found = tables(page, head);
        if (manifest_beside(page)["part"] == "tiles") {
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

/// Times of complete sums in us, from limit_sum.csv or limit_torch.csv.
class SumTimes {
public:
    explicit SumTimes(std::vector<Row> rows) : rows_(std::move(rows)) {}

    double of(const std::string& n, const std::string& offset, const std::string& mode,
              const std::string& contender) const {
        double fastest = INFINITY;
        for (const Row& row : rows_)
            if (row.at("n") == n && row.at("offset") == offset && row.at("mode") == mode &&
                row.at("contender").starts_with(contender) &&
                (contender != "sum" || row.at("contender") == "sum"))
                fastest = std::min(fastest, std::stod(row.at("time_us_median")));
        EXPECT_LT(fastest, INFINITY) << "no record of " << contender << ", n " << n;
        return fastest;
    }

    /// The times of CUB's faster form over those of `ours`, in all cases.
    std::vector<double> ratios(const std::string& mode, const std::string& ours) const {
        std::vector<double> result;
        for (const Row& row : rows_)
            if (row.at("mode") == mode && row.at("contender") == ours)
                result.push_back(of(row.at("n"), row.at("offset"), mode, "cub") /
                                 std::stod(row.at("time_us_median")));
        return result;
    }

private:
    std::vector<Row> rows_;
};

double geometric_mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
}

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

/// "2^20 - 1" -> 1048575
std::string expanded(const std::string& n) {
    std::smatch power;
    if (!std::regex_match(n, power, std::regex(R"(2\^(\d+)(?: ([+-]) 1)?)"))) return without_commas(n);
    const long long value = 1LL << std::stoi(power[1]);
    return std::to_string(power[2] == "+" ? value + 1 : power[2] == "-" ? value - 1 : value);
}

const fs::path lesson30 = root / "lessons/lesson30_a_sum_for_every_n/README.md";

TEST(RecordedFigures, of_sums_are_those_in_the_record) {
    const std::regex head(
        R"(\| (NVIDIA [^,|]+), (cold|warm) \[us\], n \| offset \| `sum` \| `sum_zeroed` \| CUB \| `torch.sum` \| CUB / `sum` \|)");
    const auto found = tables(lesson30, head);
    ASSERT_EQ(found.size(), 3u);
    std::map<std::string, std::size_t> most_rows;
    for (const Table& table : found) {
        const SumTimes times(read_record(record_of(table.head[1], "limit_sum.csv")));
        const SumTimes torch(read_record(record_of(table.head[1], "limit_torch.csv")));
        const std::string mode = table.head[2];
        for (const auto& cells : table.rows) {
            SCOPED_TRACE(cells[0] + ", offset " + cells[1] + ", " + mode);
            const std::string n = expanded(cells[0]);
            const double ours = times.of(n, cells[1], mode, "sum"), cub = times.of(n, cells[1], mode, "cub");
            EXPECT_EQ(cells.at(2), grouped(ours, 2));
            EXPECT_EQ(cells.at(3), grouped(times.of(n, cells[1], mode, "sum_zeroed"), 2));
            EXPECT_EQ(cells.at(4), grouped(cub, 2));
            EXPECT_EQ(cells.at(5), grouped(torch.of(n, cells[1], mode, "torch.sum"), 2));
            EXPECT_EQ(cells.at(6), grouped(cub / ours, 3));
        }
        most_rows[mode] = std::max(most_rows[mode], table.rows.size());
        const std::size_t cases = times.ratios(mode, "sum").size();
        EXPECT_TRUE(table.rows.size() == 10 || table.rows.size() == cases) << table.rows.size();
    }
    EXPECT_EQ(most_rows["cold"], 50u);
    EXPECT_EQ(most_rows["warm"], 50u);
}

TEST(RecordedFigures, of_lesson_30s_goals_are_those_in_the_record) {
    std::ifstream file(lesson30);
    const std::string page(std::istreambuf_iterator<char>(file), {});
    const auto expect_words = [&](const std::string& words) {
        const std::string on_one_line = std::regex_replace(page, std::regex("\n"), " ");
        EXPECT_NE(on_one_line.find(words), std::string::npos) << words;
    };
    const auto record = read_record(root / "docs/data/nvidia-h200/limit_sum.csv");
    const auto other_record = read_record(root / "docs/data/nvidia-h200/limit_sum_other_card.csv");
    const SumTimes times(record), other(other_record);
    const auto cold = times.ratios("cold", "sum"), warm = times.ratios("warm", "sum"),
               cold_zeroed = times.ratios("cold", "sum_zeroed"),
               warm_zeroed = times.ratios("warm", "sum_zeroed");
    expect_words("the lowest of " + std::to_string(cold.size()) + " cases is " + grouped(least(cold), 3) +
                 " cold and " + grouped(least(warm), 3) + " warm");
    expect_words("missed by " + grouped(100 * (1.2 - geometric_mean(cold)) / 1.2, 1) +
                 " %**: " + grouped(geometric_mean(cold), 3));
    expect_words("zeroed once it is " + grouped(geometric_mean(cold_zeroed), 3));
    expect_words("Warm, the means are " + grouped(geometric_mean(warm), 3) + " and " +
                 grouped(geometric_mean(warm_zeroed), 3));
    expect_words("mean was " + grouped(geometric_mean(other.ratios("cold", "sum")), 3) + " cold and " +
                 grouped(geometric_mean(other.ratios("warm", "sum")), 3) + " warm, and the lowest ratio " +
                 grouped(least(other.ratios("cold", "sum")), 3) + " cold");
    expect_words("came out at " + grouped(least(other.ratios("cold", "sum_zeroed")), 3));

    const auto peak = [](const std::vector<Row>& rows, const char* contender) {
        const Row row = find_row(
            rows, {{"n", "1073741824"}, {"offset", "0"}, {"mode", "cold"}, {"contender", contender}});
        return grouped(100 * std::stod(row.at("peak_fraction")), 1);
    };
    expect_words("on this card: " + peak(record, "sum") + " %. Another H200 gave " +
                 peak(other_record, "sum") + " %, and CUB " + peak(other_record, "cub_int") + " % there");
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
} // namespace recorded_figures_test

// What the pages quote from the project, print, calculate and link to is true.
//
//   ```diff      the whole change from one kernel to the next; `@@` lines stand for what is left out
//   ```cpp       lines that stand in one of the lesson's .cu and .cuh files, but for exercise.cuh, or in the
//                errata's test; those of other pages the site looks for in the file that is named above
//                them (Site.is_made)
//   ```console   `$ command`, then its standard output, if the command runs a lesson
//   ```text      anything else
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "run_program.hpp"

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const fs::path root = PROJECT_ROOT;

Lines read_lines(const fs::path& path) {
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

/// Sorted: a lesson follows the step before it.
std::vector<fs::path> folders_of(const std::string& kind) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(root / "lessons"))
        if (entry.path().filename().string().starts_with(kind)) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    return folders;
}

std::vector<fs::path> lesson_folders() { return folders_of("lesson"); }

/// The open exercises have no page of a lesson.
std::vector<fs::path> open_folders() { return folders_of("open"); }

std::vector<fs::path> pages() {
    std::vector<fs::path> paths{root / "README.md", root / "CONTRIBUTING.md",
                                root / "common/emulator/README.md"};
    paths.push_back(root / "lessons/start/README.md");
    for (const fs::path& folder : lesson_folders())
        for (const char* name : {"README.md", "exercise.md"})
            if (fs::exists(folder / name)) paths.push_back(folder / name);
    for (const fs::path& folder : open_folders()) paths.push_back(folder / "exercise.md");
    for (const auto& entry : fs::directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md") paths.push_back(entry.path());
    return paths;
}

/// The contents of a page's fenced blocks of one kind, or its text outside of all blocks.
struct Page {
    std::vector<Lines> diff, cpp, console;
    Lines text;
};

Page read_page(const fs::path& path) {
    Page page;
    Lines ignored, *target = &page.text;
    for (const std::string& line : read_lines(path)) {
        if (!line.starts_with("```"))
            target->push_back(line);
        else if (target != &page.text)
            target = &page.text;
        else if (line == "```diff")
            target = &page.diff.emplace_back();
        else if (line == "```cpp")
            target = &page.cpp.emplace_back();
        else if (line == "```console")
            target = &page.console.emplace_back();
        else {
            EXPECT_EQ(line, "```text") << path << ": a block of this kind is not tested";
            target = &ignored;
        }
    }
    EXPECT_EQ(target, &page.text) << path << ": the last block is not closed";
    return page;
}

/// The lines of the function `name`, or none.
Lines find_kernel(const Lines& file, const std::string& name) {
    const auto first = std::find_if(file.begin(), file.end(), [&](const std::string& line) {
        return line.starts_with("__global__ void " + name + "(");
    });
    auto last = std::find(first, file.end(), "}");
    if (last != file.end()) ++last;
    return {first, last};
}

/// The name in "__global__ void name(…", or nothing.
std::string kernel_name(const std::string& line) {
    std::smatch match;
    return std::regex_search(line, match, std::regex("__global__ void (\\w+)\\(")) ? match[1].str() : "";
}

struct Hunk {
    Lines before, after;
};

std::vector<Hunk> read_hunks(const Lines& diff) {
    std::vector<Hunk> hunks(1);
    for (const std::string& line : diff) {
        if (line.starts_with("@@")) {
            hunks.emplace_back();
            continue;
        }
        const std::string rest = line.substr(std::min<std::size_t>(1, line.size()));
        if (!line.starts_with("+")) hunks.back().before.push_back(rest);
        if (!line.starts_with("-")) hunks.back().after.push_back(rest);
    }
    return hunks;
}

/// `lines` with each hunk applied, each one after the one before.
Lines apply(const std::vector<Hunk>& hunks, Lines lines) {
    auto position = lines.begin();
    for (const Hunk& hunk : hunks) {
        position = std::search(position, lines.end(), hunk.before.begin(), hunk.before.end());
        if (position == lines.end()) {
            ADD_FAILURE() << "the step before has no such lines:\n" << join(hunk.before);
            return lines;
        }
        position = lines.erase(position, position + std::ssize(hunk.before));
        position = lines.insert(position, hunk.after.begin(), hunk.after.end()) + std::ssize(hunk.after);
    }
    return lines;
}

TEST(Pages, quote_the_real_diff) {
    const std::vector<fs::path> folders = lesson_folders();
    for (std::size_t i = 0; i < folders.size(); ++i) {
        SCOPED_TRACE(folders[i]);
        // The step before: the nearest earlier lesson's kernel of that name, or one of the lesson's own.
        const Lines after = read_lines(folders[i] / "kernels.cuh");
        Lines before;
        for (std::size_t j = i; j-- > 0;) {
            const Lines earlier = read_lines(folders[j] / "kernels.cuh");
            before.insert(before.end(), earlier.begin(), earlier.end());
        }
        before.insert(before.end(), after.begin(), after.end());
        const Page page = read_page(folders[i] / "README.md");
        EXPECT_FALSE(page.diff.empty()) << "the page quotes no diff";
        for (const Lines& diff : page.diff) {
            const std::vector<Hunk> hunks = read_hunks(diff);
            ASSERT_FALSE(hunks[0].before.empty() || hunks[0].after.empty())
                << "a diff begins with the two kernels' first lines";
            const Lines old_kernel = find_kernel(before, kernel_name(hunks[0].before[0]));
            const Lines new_kernel = find_kernel(after, kernel_name(hunks[0].after[0]));
            EXPECT_FALSE(old_kernel.empty()) << "the step before has no " << hunks[0].before[0];
            EXPECT_FALSE(new_kernel.empty()) << "this step has no " << hunks[0].after[0];
            EXPECT_EQ(join(apply(hunks, old_kernel)), join(new_kernel));
        }
    }
}

void expect_quotes_from_its_folder(const fs::path& page) {
    SCOPED_TRACE(page);
    std::vector<std::string> files;
    for (const fs::path& file : fs::directory_iterator(page.parent_path())) {
        const bool is_code = file.extension() == ".cu" || file.extension() == ".cuh";
        if (is_code && file.filename() != "exercise.cuh") files.push_back(join(read_lines(file)));
    }
    for (const Lines& quoted : read_page(page).cpp)
        EXPECT_THAT(files, testing::Contains(testing::HasSubstr(join(quoted))));
}

TEST(Pages, quote_the_real_code) {
    expect_quotes_from_its_folder(root / "lessons/start/README.md");
    for (const fs::path& folder : lesson_folders()) expect_quotes_from_its_folder(folder / "README.md");
    for (const fs::path& folder : open_folders()) expect_quotes_from_its_folder(folder / "exercise.md");
    const std::string errata = join(read_lines(root / "tests/errata/errata_test.cu"));
    for (const Lines& quoted : read_page(root / "docs/errata.md").cpp)
        EXPECT_THAT(errata, testing::HasSubstr(join(quoted)));
}

/// Another nvcc may write other PTX: then the rows that are counted on PTX are compared without their
/// numbers.
std::string comparable(std::string output) {
    // The pages speak of the root, where a reader runs a lesson; the tests run it elsewhere.
    const std::string here = root.string() + "/";
    for (std::size_t at = 0; (at = output.find(here, at)) != std::string::npos;)
        output.erase(at, here.size());
    output = std::regex_replace(output, std::regex("[\\d.]+ ms on .*\n"), ""); // start's time
    if (std::string(NVCC_VERSION).starts_with("13.0.")) return output;
    return std::regex_replace(
        output,
        std::regex("(\n  (per warp|per thread|divergent|executed \\(PTX\\)| +divergent branches) ).*"), "$1");
}

/// Runs the command on the emulator, also where there is a GPU.
void expect_output(const std::string& command, const std::string& output) {
    static const std::regex lesson(R"(\./(start|lesson\d\d|open[A-Z]))");
    SCOPED_TRACE("$ " + command);
    if (!std::regex_search(command, lesson)) {
        EXPECT_EQ(output, "") << "nothing can test this output";
        return;
    }
    if (output.empty()) return;
    if (command.find(" --lines ") != std::string::npos && !std::string(NVCC_VERSION).starts_with("13.0."))
        return; // its instructions are counted on PTX, line by line
    const std::string without_make =
        std::regex_replace(command, std::regex("make (start|lesson\\d\\d|open[A-Z]) && "), "");
    const ProgramResult result =
        run_program(std::regex_replace(without_make, lesson, "$& --device emulator"));
    EXPECT_EQ(comparable(output), comparable(result.out)) << result.err;
}

TEST(Pages, show_what_the_programs_print) {
    for (const fs::path& path : pages()) {
        SCOPED_TRACE(path);
        std::size_t outputs = 0;
        for (const Lines& block : read_page(path).console) {
            for (auto line = block.begin(); line != block.end();) {
                ASSERT_TRUE(line->starts_with("$ ")) << *line;
                const auto end = std::find_if(
                    line + 1, block.end(), [](const std::string& other) { return other.starts_with("$ "); });
                const Lines output(line + 1, end);
                expect_output(line->substr(2), join(output));
                outputs += !output.empty();
                line = end;
            }
        }
        const bool is_lesson =
            path.filename() == "README.md" && path.parent_path().parent_path() == root / "lessons";
        EXPECT_TRUE(outputs > 0 || !is_lesson) << "the page shows no output";
    }
}

/// "12,345" as a number.
std::int64_t number(std::string text) {
    std::erase(text, ',');
    return std::stoll(text);
}

/// The value of whole numbers joined by `x`, `/`, `+` and `-`; of those the first two bind tighter.
std::int64_t calculate(const std::string& expression) {
    std::istringstream words(expression);
    std::int64_t sum = 0, product = 0;
    char operation = '+';
    for (std::string word; words >> word; words >> operation) {
        const std::int64_t value = number(word);
        if (operation == 'x')
            product *= value;
        else if (operation == '/') {
            EXPECT_EQ(product % value, 0) << expression << " is no whole number";
            product /= value;
        } else {
            sum += product;
            product = operation == '+' ? value : -value;
        }
    }
    return sum + product;
}

TEST(Pages, calculate_right) {
    static const std::regex equation(
        R"((?:^|[ (|])(\d[\d,]*(?: [x/+-] \d[\d,]*)+) = (\d+(?:,\d{3})*)(?![\d]|[.,]\d))");
    for (const fs::path& path : pages()) {
        SCOPED_TRACE(path);
        for (const std::string& line : read_page(path).text) {
            for (std::sregex_iterator match(line.begin(), line.end(), equation), end; match != end; ++match)
                EXPECT_EQ(calculate((*match)[1]), number((*match)[2])) << match->str();
        }
    }
}

TEST(Pages, link_to_what_is_there) {
    static const std::regex link(R"(\]\(([^)#]+)[^)]*\))");
    for (const fs::path& path : pages()) {
        SCOPED_TRACE(path);
        const std::string text = join(read_page(path).text);
        for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
            const std::string target = (*match)[1];
            if (target.find("://") != std::string::npos) continue;
            EXPECT_TRUE(fs::exists(path.parent_path() / target)) << target;
        }
    }
}

TEST(Pages, are_in_the_contents_of_the_site) {
    const Lines contents = read_lines(root / "docs/contents.txt");
    for (const auto& entry : fs::directory_iterator(root / "docs")) {
        if (entry.path().extension() != ".md") continue;
        const std::string line = "  docs/" + entry.path().filename().string();
        EXPECT_EQ(std::count(contents.begin(), contents.end(), line), 1) << line;
    }
}

/// A reader can copy the header: it includes nothing but the toolkit's and the standard library's.
TEST(Pages, offer_a_header_that_is_one_file) {
    for (const std::string& line : read_lines(root / "lessons/lesson30_a_sum_for_every_n/sum.cuh")) {
        if (!line.starts_with("#include")) continue;
        EXPECT_THAT(line, testing::MatchesRegex("#include <[a-z_/]+(\\.h)?>"));
    }
}

TEST(Pages, list_every_lesson) {
    const std::string readme = join(read_page(root / "README.md").text);
    for (const fs::path& folder : lesson_folders())
        EXPECT_THAT(readme, testing::HasSubstr("](lessons/" + folder.filename().string() + "/README.md)"));
}

} // namespace

// Counters by source line: from the records of the library to text, JSON and HTML.

#include "emulator/cli/lines.hpp"
#include "emulator/session/recorders.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

using namespace emulate;
using emulator::FunctionLines, emulator::Metric;
using testing::AllOf, testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::Not,
    testing::SizeIs;

namespace lines_test {
namespace {

/// A line with so many instructions.
LineCounts line(std::uint32_t number, std::uint64_t instructions) {
    LineCounts counts;
    counts.line = number;
    counts.counted[Metric::warp_instructions] = instructions;
    return counts;
}

LineCounts loads(LineCounts counts, std::uint64_t sectors, std::uint64_t ideal, std::uint64_t requests) {
    counts.counted[Metric::global_load_sectors] = sectors;
    counts.ideal[Metric::global_load_sectors] = ideal;
    counts.counted[Metric::global_load_requests] = requests;
    return counts;
}

LineCounts stores_shared(LineCounts counts, std::uint64_t wavefronts, std::uint64_t ideal) {
    counts.counted[Metric::shared_store_wavefronts] = wavefronts;
    counts.counted[Metric::shared_store_bank_conflicts] = wavefronts - ideal;
    counts.ideal[Metric::shared_store_wavefronts] = ideal;
    return counts;
}

LineCounts diverges(LineCounts counts, std::uint64_t times) {
    counts.counted[Metric::divergent_branches] = times;
    return counts;
}

const std::vector<std::string> source{
    "#include <cstdio>",                                         // 1
    "/// Copies.",                                               // 2
    "template <int n>",                                          // 3
    "__global__ void",                                           // 4
    "copy(const float* in, float* out) {",                       // 5
    "    // One element a thread.",                              // 6
    "    const int i = blockIdx.x * blockDim.x + threadIdx.x;",  // 7
    "    if (i < n && in[i] != 0) {",                            // 8
    "\ttile[threadIdx.x * 2] = in[32 * i]; // \"<&>\" \xC3\xA9", // 9
    "    }",                                                     // 10
    "}",                                                         // 11
    "",                                                          // 12
    "__device__ float twice(float x) {",                         // 13
    "    return 2 * x;",                                         // 14
    "}",                                                         // 15
};

FunctionLines copy_lines() {
    return {.function = "void copy<7>(float const*, float*)",
            .path = "/nowhere/copy.cu",
            .first_line = 5,
            .lines = {line(5, 2048), line(7, 3072), diverges(line(8, 1024), 12),
                      stores_shared(loads(line(9, 5120), 32768, 4096, 1024), 2048, 1024), line(11, 1024)},
            .ptx = {}};
}

FunctionLines twice_lines() {
    return {.function = "twice(float)",
            .path = "/nowhere/copy.cu",
            .first_line = 13,
            .lines = {line(13, 0), line(14, 10), line(15, 4)},
            .ptx = {}};
}

struct Records {
    std::vector<Json> launches, lines;

    std::vector<KernelCounts> sum() const {
        std::vector<KernelCounts> kernels;
        for (const Json& record : lines) add_lines(kernels, record, launches);
        return kernels;
    }
};

/// The records of one launch.
void add_launch(Records& records, const std::vector<FunctionLines>& functions, std::uint32_t blocks = 32) {
    const auto number = records.launches.size();
    const std::string name = functions.front().function;
    records.launches.push_back({{"launch", number},
                                {"kernel", "copy<7>"},
                                {"name", name},
                                {"grid", {blocks, 1, 1}},
                                {"block", {1024, 1, 1}},
                                {"dynamic_shared_bytes", 0},
                                {"counters", Json::object()},
                                {"process", 1}});
    records.lines.push_back({{"kernel", "copy<7>"},
                             {"name", name},
                             {"functions", functions},
                             {"launch", number},
                             {"process", 1}});
}

std::optional<SourceFile> known_source(const std::string& path) {
    if (path != "/nowhere/copy.cu") return std::nullopt;
    return SourceFile{.lines = source};
}

std::vector<KernelLines> kernels_of(const std::vector<FunctionLines>& functions,
                                    const ReadSource& read_source = known_source) {
    Records records;
    add_launch(records, functions);
    return kernel_lines(records.sum(), read_source);
}

std::vector<std::uint32_t> numbers(const Listing& listing) {
    std::vector<std::uint32_t> result;
    for (const ListedLine& listed : listing.lines) result.push_back(listed.number);
    return result;
}

std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0, length = 0;
    for (const char c : text) {
        length = c == '\n' ? 0 : length + ((c & 0xC0) != 0x80);
        longest = std::max(longest, length);
    }
    return longest;
}

} // namespace

// ---- what is listed

TEST(KernelLines, list_a_function_from_its_declaration_to_its_end) {
    const auto kernels = kernels_of({copy_lines()});
    ASSERT_THAT(kernels, SizeIs(1));
    ASSERT_THAT(kernels[0].listings, SizeIs(1));
    const Listing& listing = kernels[0].listings[0];
    EXPECT_EQ(listing.kind, ListingKind::source);
    EXPECT_EQ(listing.file, "/nowhere/copy.cu");
    EXPECT_THAT(numbers(listing), ElementsAre(3, 4, 5, 6, 7, 8, 9, 10, 11));
    EXPECT_EQ(listing.lines[0].text, "template <int n>");
    EXPECT_FALSE(listing.lines[3].counts) << "a comment";
    EXPECT_EQ(listing.lines[5].counts->counted[Metric::divergent_branches], 12u);
    EXPECT_EQ(kernels[0].total.counted[Metric::warp_instructions], 2048u + 3072 + 1024 + 5120 + 1024);
    EXPECT_EQ(kernels[0].total.ideal[Metric::global_load_sectors], 4096u);
}

TEST(KernelLines, add_up_the_launches_of_a_kernel) {
    Records records;
    add_launch(records, {copy_lines()});
    add_launch(records, {copy_lines(), twice_lines()}, 8);
    add_launch(records, {copy_lines()});
    FunctionLines other = copy_lines();
    other.function = "void copy<8>(float const*, float*)";
    add_launch(records, {other});
    const auto kernels = kernel_lines(records.sum(), known_source);
    ASSERT_THAT(kernels, SizeIs(2));
    EXPECT_EQ(kernels[0].launches, 3u);
    EXPECT_THAT(kernels[0].launched,
                ElementsAre("3 launches together (emulate --launch K picks one)",
                            "grid (32,1,1), block (1024,1,1)", "grid (8,1,1), block (1024,1,1)"));
    EXPECT_THAT(kernels[0].listings, SizeIs(2)) << "only the second launch calls the function";
    EXPECT_EQ(kernels[0].listings[0].lines[6].counts->ideal[Metric::global_load_sectors], 3u * 4096);
    EXPECT_EQ(kernels[0].total.counted[Metric::divergent_branches], 3u * 12);
    EXPECT_EQ(kernels[1].launches, 1u);
    EXPECT_THAT(kernels[1].launched, ElementsAre("grid (32,1,1), block (1024,1,1)"));
}

TEST(KernelLines, keep_instances_of_a_template_apart) {
    FunctionLines twice_double = twice_lines();
    twice_double.function = "double twice<double>(double)";
    Records records;
    add_launch(records, {copy_lines(), twice_lines()});
    add_launch(records, {copy_lines(), twice_double});
    const auto kernels = kernel_lines(records.sum(), known_source);
    EXPECT_THAT(kernels.at(0).listings, SizeIs(3));
}

TEST(KernelLines, leave_out_launches_that_failed) {
    Records records;
    add_launch(records, {copy_lines()});
    add_launch(records, {copy_lines()});
    records.launches[1].erase("counters");
    records.launches[1]["error"] = "illegal address";
    const auto kernels = kernel_lines(records.sum(), known_source);
    EXPECT_EQ(kernels.at(0).launches, 1u);
    EXPECT_EQ(kernels[0].total.counted[Metric::divergent_branches], 12u);
}

TEST(KernelLines, keep_processes_apart_that_write_at_the_same_time) {
    Records records;
    add_launch(records, {copy_lines()});
    Json child = records.launches[0];
    child["process"] = 2;
    child.erase("counters");
    child["error"] = "illegal address";
    records.launches.push_back(child);
    ASSERT_THAT(records.sum(), SizeIs(1)) << "the child's launch 0 has failed, not this one";
    records.lines[0]["process"] = 2;
    EXPECT_THAT(records.sum(), IsEmpty());
    records.lines[0]["process"] = 3;
    EXPECT_THAT(records.sum(), IsEmpty()) << "a launch that nobody knows of";
}

TEST(KernelLines, list_numbers_where_the_source_has_moved) {
    const auto kernels = kernels_of({copy_lines()}, [](const std::string&) { return std::nullopt; });
    const Listing& listing = kernels.at(0).listings.at(0);
    EXPECT_EQ(listing.kind, ListingKind::lost);
    EXPECT_EQ(listing.file, "/nowhere/copy.cu");
    EXPECT_THAT(numbers(listing), ElementsAre(5, 7, 8, 9, 11));
}

TEST(KernelLines, list_lines_that_the_source_no_longer_has) {
    const auto kernels = kernels_of({copy_lines()}, [](const std::string&) {
        return SourceFile{.lines = {"#pragma once", "__global__ void copy() {"},
                          .is_newer_than_program = true};
    });
    const Listing& listing = kernels.at(0).listings.at(0);
    EXPECT_TRUE(listing.is_stale);
    EXPECT_THAT(numbers(listing), ElementsAre(5, 6, 7, 8, 9, 10, 11));
    EXPECT_EQ(listing.lines[0].text, "");
}

TEST(KernelLines, list_ptx_where_there_is_no_source) {
    const auto kernels = kernels_of({{.function = "k",
                                      .path = "",
                                      .first_line = 4,
                                      .lines = {line(6, 1), line(7, 1)},
                                      .ptx = {".visible .entry k()", "{", "bar.sync 0;", "ret;", "}"}}});
    const Listing& listing = kernels.at(0).listings.at(0);
    EXPECT_EQ(listing.kind, ListingKind::ptx);
    EXPECT_THAT(numbers(listing), ElementsAre(4, 5, 6, 7, 8));
    EXPECT_EQ(listing.lines[2].text, "bar.sync 0;");
    EXPECT_TRUE(listing.lines[2].counts);
}

TEST(KernelLines, know_the_hottest_lines) {
    const auto kernels =
        kernels_of({{.function = "k",
                     .path = "/nowhere/copy.cu",
                     .first_line = 5,
                     .lines = {line(5, 100), line(7, 91), line(8, 90), loads(line(9, 0), 8, 8, 2)},
                     .ptx = {}}});
    const Hottest hottest(kernels.at(0));
    const auto is_hot = [&](std::size_t column, std::size_t index) {
        return hottest.is_hot(column, *kernels[0].listings[0].lines[index].counts);
    };
    const auto& columns = line_columns();
    ASSERT_EQ(columns[3].id, "sectors");
    ASSERT_EQ(columns[4].id, "sectors_ideal");
    EXPECT_TRUE(is_hot(0, 2));
    EXPECT_TRUE(is_hot(0, 4));
    EXPECT_FALSE(is_hot(0, 5)) << "a tenth less";
    EXPECT_TRUE(is_hot(3, 6));
    EXPECT_FALSE(is_hot(3, 2)) << "nothing";
    EXPECT_FALSE(is_hot(4, 6)) << "an ideal is nothing that happened";
    const auto alike = kernels_of({{.function = "k",
                                    .path = "/nowhere/copy.cu",
                                    .first_line = 5,
                                    .lines = {line(5, 8), line(7, 8), line(8, 1)},
                                    .ptx = {}}});
    EXPECT_FALSE(Hottest(alike[0]).is_hot(0, line(5, 8))) << "most of them have the most";
}

TEST(SourceFiles, are_read_from_disk_and_compared_with_the_program) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("lines_test_" + std::to_string(getpid()));
    fs::create_directory(folder);
    const fs::path program = folder / "program", file = folder / "kernels.cuh";
    std::ofstream(program) << "a program";
    std::ofstream(file) << "one\r\n\ntwo";
    const ReadSource read = read_source_files(program);
    fs::last_write_time(file, fs::last_write_time(program) - std::chrono::seconds(1));
    EXPECT_THAT(read(file)->lines, ElementsAre("one", "", "two"));
    EXPECT_FALSE(read(file)->is_newer_than_program);
    fs::last_write_time(file, fs::last_write_time(program) + std::chrono::seconds(1));
    EXPECT_TRUE(read(file)->is_newer_than_program);
    EXPECT_FALSE(read(folder)) << "a folder";
    EXPECT_FALSE(read(folder / "gone"));
    EXPECT_FALSE(read_source_files("")(file)->is_newer_than_program);
    fs::remove_all(folder);
}

TEST(LineRecords, come_back_as_they_were) {
    const FunctionLines written = copy_lines();
    const FunctionLines read = Json::parse(Json(written).dump()).get<FunctionLines>();
    EXPECT_EQ(read.function, written.function);
    EXPECT_EQ(read.path, written.path);
    EXPECT_EQ(read.first_line, written.first_line);
    ASSERT_EQ(read.lines.size(), written.lines.size());
    for (std::size_t i = 0; i < read.lines.size(); ++i) {
        EXPECT_EQ(read.lines[i].line, written.lines[i].line);
        EXPECT_EQ(read.lines[i].counted, written.lines[i].counted);
        EXPECT_EQ(read.lines[i].ideal, written.lines[i].ideal);
    }
}

// ---- as text

TEST(LinesAsText, on_a_wide_terminal) {
    EXPECT_EQ(lines_as_text(kernels_of({copy_lines(), twice_lines()}), 120),
              R"(void copy<7>(float const*, float*)
  grid (32,1,1), block (1024,1,1)
  /nowhere/copy.cu

   PTX        sectors           wavefronts  diver-
 instr   count  ideal   req.  count  ideal    gent  line |
---------------------------------------------------------+---------------------------------------------------------
                                                       3 | template <int n>
                                                       4 | __global__ void
 2,048                                                 5 | copy(const float* in, float* out) {
                                                       6 |     // One element a thread.
 3,072                                                 7 |     const int i = blockIdx.x * blockDim.x + threadIdx.x;
 1,024                                          12*    8 |     if (i < n && in[i] != 0) {
 5,120* 32,768* 4,096  1,024* 2,048* 1,024             9 |     tile[threadIdx.x * 2] = in[32 * i]; // "<&>" é
                                                      10 |     }
 1,024                                                11 | }

  calls twice(float)
  /nowhere/copy.cu

   PTX        sectors           wavefronts  diver-
 instr   count  ideal   req.  count  ideal    gent  line |
---------------------------------------------------------+---------------------------------------------------------
     0                                                13 | __device__ float twice(float x) {
    10                                                14 |     return 2 * x;
     4                                                15 | }
12,302  32,768  4,096  1,024  2,048  1,024      12       | all lines

*      the highest in its column, or less than 10 % below it
instr  executed instructions per warp, counted on PTX; the GPU's own may differ
ideal  sectors: if the bytes of each request lay side by side;
       wavefronts: if no two lanes wanted different words of one bank
req.   requests: loads and stores of global memory, per warp
)");
}

TEST(LinesAsText, below_the_source_on_a_narrow_terminal) {
    const std::string text = lines_as_text(kernels_of({copy_lines()}), 80);
    EXPECT_THAT(text, HasSubstr(R"(
          PTX        sectors           wavefronts  diver-
line |  instr   count  ideal   req.  count  ideal    gent
-----+---------------------------------------------------------
   3 | template <int n>
   4 | __global__ void
   5 | copy(const float* in, float* out) {
     :  2,048
   6 |     // One element a thread.
   7 |     const int i = blockIdx.x * blockDim.x + threadIdx.x;
     :  3,072
   8 |     if (i < n && in[i] != 0) {
     :  1,024                                          12*
   9 |     tile[threadIdx.x * 2] = in[32 * i]; // "<&>" é
     :  5,120* 32,768* 4,096  1,024* 2,048* 1,024
  10 |     }
  11 | }
     :  1,024
     | all lines
     : 12,288  32,768  4,096  1,024  2,048  1,024      12
)")) << text;
    EXPECT_LE(longest_line(text), 80u);
    const std::string narrow = lines_as_text(kernels_of({copy_lines()}), 56);
    EXPECT_THAT(narrow, HasSubstr("   7 |     const int i = blockIdx.x * blockDim.x +\n"
                                  "     |         threadIdx.x;\n     : 3,072\n"));
    EXPECT_THAT(narrow, HasSubstr("   9 |     tile[threadIdx.x * 2] = in[32 * i]; // \"<&...\n"))
        << "a comment";
    EXPECT_THAT(narrow, HasSubstr("     : 12.3k 32.8k 4,096 1,024 2,048 1,024     12\n"));
    EXPECT_THAT(narrow, HasSubstr("\nk M G  thousands, millions, billions"));
}

namespace {

/// Line 9 executes 7,168 instructions of machine code, which pass the data pipe 3,072 times; line 11 2,048 and never.
std::vector<KernelLines> with_machine_code(const std::string& missing = "") {
    Records records;
    add_launch(records, {copy_lines()});
    std::vector<KernelCounts> sum = records.sum();
    Json record{{"process", 1}, {"launch", 0}};
    const std::string name = "void copy<7>(float const*, float*)", path = "/nowhere/copy.cu";
    record["lines_sm_90"] = {{name, path, 9, 7168, 3072}, {name, path, 11, 2048, 0}};
    for (int launch = 0; launch < 2; ++launch) add_machine_code(sum, record, records.launches);
    record.erase("lines_sm_90");
    record["no_sm_90"] = missing;
    if (!missing.empty()) add_machine_code(sum, record, records.launches);
    return kernel_lines(sum, known_source);
}

} // namespace

TEST(LinesAsText, has_the_machine_code_beside_the_ptx) {
    const std::string text = lines_as_text(with_machine_code(), 160);
    EXPECT_THAT(text, HasSubstr(R"(
   PTX   sm_90                sectors           wavefronts  diver-
 instr   instr  passes   count  ideal   req.  count  ideal    gent  line |
)")) << text;
    EXPECT_THAT(text,
                HasSubstr("\n 5,120* 14,336*  6,144* 32,768* 4,096  1,024* 2,048* 1,024             9 | "));
    EXPECT_LE(longest_line(lines_as_text(with_machine_code(), 80)), 80u);
    EXPECT_THAT(
        text, HasSubstr("\n12,288  18,432   6,144  32,768  4,096  1,024  2,048  1,024      12       | all"));
}

TEST(LinesAsText, says_why_there_is_no_machine_code) {
    const std::string clusters = "blocks in clusters are not modeled";
    const std::string text = lines_as_text(with_machine_code(clusters), 160);
    EXPECT_THAT(text, Not(HasSubstr("\n   PTX   sm_90")));
    EXPECT_THAT(text, HasSubstr("\n  its machine code (sm_90) was not counted: " + clusters + "\n"));
    const std::string without = lines_as_text(with_machine_code("none"), 160, "there is no nvdisasm");
    EXPECT_THAT(without, AllOf(Not(HasSubstr("its machine code")),
                               HasSubstr("\nNo machine code (sm_90) was counted: there is no nvdisasm\n")));
    EXPECT_THAT(lines_as_html(with_machine_code(clusters), "a"),
                HasSubstr("<p class=\"note\">Its machine code was not counted: " + clusters + ".</p>"));
    EXPECT_THAT(
        lines_as_html(with_machine_code(), "a"),
        HasSubstr(R"_(data-label="instructions (sm_90)" class="share hot" style="--share:100%">14,336)_"));
}

TEST(LinesAsText, shortens_numbers_to_three_digits) {
    FunctionLines function{
        .function = "k", .path = "/nowhere/copy.cu", .first_line = 13, .lines = {}, .ptx = {}};
    for (const std::uint64_t value :
         {9'999ull, 10'000ull, 99'949ull, 99'951ull, 999'499ull, 999'500ull, 1'048'576ull, 16'777'216ull,
          999'999'999ull, 1'234'567'890'123ull, 1ull << 60})
        function.lines.push_back(line(13 + static_cast<std::uint32_t>(function.lines.size()), value));
    const std::string text = lines_as_text(kernels_of({function}), 20);
    std::vector<std::string> values;
    const std::regex row(R"(\n +: +([^ \n]+))");
    for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end; ++match)
        values.push_back((*match)[1]);
    EXPECT_EQ(values.back(), "1.15E") << "of all lines";
    values.pop_back();
    EXPECT_THAT(values, ElementsAre("9,999", "10.0k", "99.9k", "100k", "999k", "1.00M", "1.05M", "16.8M",
                                    "1.00G", "1.23T", "1.15E*"));
}

TEST(LinesAsText, leaves_out_what_the_kernel_never_did) {
    const std::string text = lines_as_text(kernels_of({twice_lines()}), 120);
    EXPECT_THAT(text, HasSubstr("\n  PTX\ninstr  line |\n"));
    EXPECT_THAT(text, HasSubstr("\n    0    13 | __device__"));
}

TEST(LinesAsText, says_what_is_wrong_with_the_source) {
    const auto with = [](const ReadSource& read_source) {
        return lines_as_text(kernels_of({copy_lines()}, read_source), 80);
    };
    const std::string lost = with([](const std::string&) { return std::nullopt; });
    EXPECT_THAT(lost, HasSubstr("  /nowhere/copy.cu\n  It cannot be read (has it moved?)"));
    EXPECT_THAT(lost, HasSubstr("12*    8 |\n")) << "no source needs room";
    EXPECT_THAT(
        with([](const std::string&) { return SourceFile{.lines = source, .is_newer_than_program = true}; }),
        HasSubstr("  It is newer than the program: build the program again"));
    const FunctionLines ptx{.function = "k",
                            .path = "",
                            .first_line = 4,
                            .lines = {line(5, 1)},
                            .ptx = {".entry k() {", "ret; }"}};
    EXPECT_THAT(lines_as_text(kernels_of({ptx}), 80),
                AllOf(HasSubstr("compile with nvcc -lineinfo"), HasSubstr("   5 | ret; }\n")));
    EXPECT_THAT(lines_as_text({}, 80), HasSubstr("no kernel ran to its end"));
}

TEST(LinesAsText, shows_no_bytes_that_move_the_cursor) {
    FunctionLines function = twice_lines();
    const auto read = [](const std::string&) { return SourceFile{.lines = {13, "\x1b[31m a\tb\x7f\r"}}; };
    EXPECT_THAT(lines_as_text(kernels_of({function}, read), 80), HasSubstr(".[31m a b.."));
}

// ---- as JSON

TEST(LinesAsJson, has_every_digit_and_the_names_of_nsight_compute) {
    const Json json = lines_as_json(kernels_of({copy_lines(), twice_lines()}));
    ASSERT_THAT(json, SizeIs(1));
    EXPECT_EQ(json[0]["kernel"], "copy<7>");
    EXPECT_EQ(json[0]["launches"], 1);
    EXPECT_EQ(json[0]["counters"]["smsp__inst_executed.sum"], 12302);
    ASSERT_THAT(json[0]["functions"], SizeIs(2));
    const Json& function = json[0]["functions"][0];
    EXPECT_EQ(function["source"], "cuda");
    EXPECT_EQ(function["file"], "/nowhere/copy.cu");
    EXPECT_EQ(function["newer_than_program"], false);
    EXPECT_EQ(function["lines"][3], Json::parse(R"({"line": 6, "text": "    // One element a thread."})"));
    EXPECT_EQ(function["lines"][6], Json::parse(R"({
        "line": 9, "text": "\ttile[threadIdx.x * 2] = in[32 * i]; // \"<&>\" é",
        "counters": {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 32768,
                     "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 1024,
                     "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": 2048,
                     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": 1024,
                     "smsp__inst_executed.sum": 5120},
        "ideal": {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 4096,
                  "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": 1024},
        "instructions_sm_90": 0, "data_pipe_passes": 0,
        "hottest": ["instructions", "sectors", "requests", "wavefronts"]})"));
    EXPECT_EQ(json[0]["functions"][1]["lines"][0]["counters"], Json::object()) << "never executed";
}

TEST(LinesAsJson, has_the_machine_code_or_why_it_has_not) {
    const Json json = lines_as_json(with_machine_code())[0];
    EXPECT_EQ(json["instructions_sm_90"], 18432);
    EXPECT_EQ(json["data_pipe_passes"], 6144);
    EXPECT_FALSE(json.contains("no_sm_90"));
    const Json& line = json["functions"][0]["lines"][6];
    EXPECT_EQ(line["instructions_sm_90"], 14336);
    EXPECT_EQ(line["data_pipe_passes"], 6144);
    EXPECT_EQ(line["hottest"][1], "instructions_sm_90");
    const Json without = lines_as_json(with_machine_code("no ptxas"))[0];
    EXPECT_EQ(without["no_sm_90"], "no ptxas");
    EXPECT_FALSE(without.contains("instructions_sm_90"));
    EXPECT_FALSE(without["functions"][0]["lines"][6].contains("instructions_sm_90"));
}

TEST(LinesAsJson, says_where_the_lines_are_from) {
    const Json lost =
        lines_as_json(kernels_of({copy_lines()}, [](const std::string&) { return std::nullopt; }));
    EXPECT_EQ(lost[0]["functions"][0]["source"], "not found");
    const Json ptx = lines_as_json(kernels_of({{.function = "k",
                                                .path = "",
                                                .first_line = 4,
                                                .lines = {line(4, 1)},
                                                .ptx = {".entry k() { ret; }"}}}));
    EXPECT_EQ(ptx[0]["functions"][0]["source"], "ptx");
    EXPECT_EQ(ptx[0]["functions"][0]["file"], nullptr);
    EXPECT_EQ(lines_as_json({}), Json::array());
}

// ---- as a page

namespace {

/// The first tag that closes what is not open, or stays open; empty when all fit.
std::string first_wrong_tag(const std::string& page) {
    static const std::set<std::string> without_end{"meta", "br"};
    const std::regex tag("<(/?)([a-z0-9]+)[^>]*>");
    std::vector<std::string> open;
    for (std::sregex_iterator match(page.begin(), page.end(), tag), end; match != end; ++match) {
        const std::string name = (*match)[2];
        if ((*match)[1].length() == 0) {
            if (!without_end.contains(name)) open.push_back(name);
        } else if (open.empty() || open.back() != name) {
            return match->str();
        } else {
            open.pop_back();
        }
    }
    return open.empty() ? "" : open.back();
}

std::vector<std::string> values_of(const std::string& attribute, const std::string& page) {
    std::vector<std::string> values;
    const std::regex wanted(attribute + "=\"([^\"]*)\"");
    for (std::sregex_iterator match(page.begin(), page.end(), wanted), end; match != end; ++match)
        values.push_back((*match)[1]);
    return values;
}

std::string page_of_two_kernels() {
    Records records;
    add_launch(records, {copy_lines(), twice_lines()});
    FunctionLines other = copy_lines();
    other.function = "void copy<8>(float const*, float*)";
    add_launch(records, {other});
    return lines_as_html(kernel_lines(records.sum(), known_source), "./a<b>");
}

} // namespace

TEST(LinesAsHtml, is_one_page_without_script_or_resources) {
    const std::string page = page_of_two_kernels();
    EXPECT_EQ(first_wrong_tag(page), "");
    for (const char* const foreign : {"<script", "<link", "<img", "http", "url(", "@import", "src="})
        EXPECT_THAT(page, Not(HasSubstr(foreign)));
    EXPECT_THAT(page, AllOf(HasSubstr("prefers-color-scheme: dark"), HasSubstr("@media print")));
}

TEST(LinesAsHtml, leads_from_the_names_to_the_kernels_and_to_each_line) {
    const std::string page = page_of_two_kernels();
    const std::vector<std::string> ids = values_of(" id", page);
    const std::set<std::string> targets(ids.begin(), ids.end());
    EXPECT_EQ(targets.size(), ids.size()) << "an id twice";
    const std::vector<std::string> links = values_of("href", page);
    EXPECT_THAT(links, SizeIs(2 + 9 + 3 + 9));
    for (const std::string& link : links) EXPECT_TRUE(targets.contains(link.substr(1))) << link;
    EXPECT_THAT(page, HasSubstr("<a href=\"#kernel1\">copy&lt;7&gt;</a>"));
}

TEST(LinesAsHtml, shows_each_line_with_its_counts) {
    const std::string page = page_of_two_kernels();
    EXPECT_THAT(
        page,
        HasSubstr(R"(<td data-label="sectors" class="share hot" style="--share:100%">32,768<b>*</b></td>)"
                  R"(<td data-label="ideal" class="ideal">4,096 <b>×8</b></td>)"));
    EXPECT_THAT(
        page,
        HasSubstr(R"_(<td data-label="instructions (PTX)" class="share" style="--share:20%">1,024</td>)_"));
    EXPECT_THAT(page, HasSubstr("<td class=\"source\">\ttile[threadIdx.x * 2] = in[32 * i]; "
                                "// &quot;&lt;&amp;&gt;&quot; é</td>"));
    EXPECT_THAT(page, HasSubstr("<code>./a&lt;b&gt;</code>, line by line"));
    EXPECT_THAT(page, HasSubstr("calls <code>twice(float)</code>"));
}

TEST(LinesAsHtml, says_how_far_from_the_ideal_a_line_is) {
    const auto ideal_cell = [](std::uint64_t sectors, std::uint64_t ideal) {
        const std::string page = lines_as_html(kernels_of({{.function = "k",
                                                            .path = "/nowhere/copy.cu",
                                                            .first_line = 9,
                                                            .lines = {loads(line(9, 1), sectors, ideal, 1)},
                                                            .ptx = {}}}),
                                               "a");
        std::smatch cell;
        return std::regex_search(page, cell, std::regex("class=\"ideal\">([^/]*)<")) ? cell[1].str() : "";
    };
    EXPECT_EQ(ideal_cell(800, 800), "800");
    EXPECT_EQ(ideal_cell(839, 800), "800") << "five per cent are no more than a block's ragged end";
    EXPECT_EQ(ideal_cell(840, 800), "800 <b>×1.1");
    EXPECT_EQ(ideal_cell(1600, 800), "800 <b>×2");
    EXPECT_EQ(ideal_cell(25600, 800), "800 <b>×32");
}

TEST(LinesAsHtml, says_what_is_wrong) {
    const std::string lost =
        lines_as_html(kernels_of({copy_lines()}, [](const std::string&) { return std::nullopt; }), "a");
    EXPECT_THAT(lost, HasSubstr("<p class=\"note\">It cannot be read"));
    EXPECT_EQ(first_wrong_tag(lost), "");
    const std::string nothing = lines_as_html({}, "a");
    EXPECT_THAT(nothing, HasSubstr("No kernel ran to its end"));
    EXPECT_EQ(first_wrong_tag(nothing), "");
}

} // namespace lines_test

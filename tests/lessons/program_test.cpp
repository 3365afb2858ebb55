// The programs as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "test_device.hpp"

using nlohmann::json;
using testing::AllOf, testing::AnyOf, testing::HasSubstr, testing::Not;

namespace program_test {

/// `text` with only what a test's name may have.
std::string test_name(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    return text;
}

bool on_gpu() { return test_device().kind == harness::DeviceKind::gpu; }

/// What a kernel of the first pass moves beside the n elements: a partial sum for each block, ..., 256 bins
enum class Stores { partial_sums, partial_sums_twice_and_the_sum, the_sum, bins };

struct KernelCase {
    std::string name;
    unsigned int shared_ints_per_thread = 0; ///< dynamic
    Stores stores = Stores::partial_sums;
};

struct LessonCase {
    std::string name;
    std::vector<KernelCase> kernels;
    int n = 100'000;
    std::vector<std::string> more_kernels = {}; ///< listed first; run only if an option asks for them
    friend void PrintTo(const LessonCase& lesson, std::ostream* out) { *out << lesson.name; }

    std::string with_n() const { return "--n " + std::to_string(n); }
};

class EveryLesson : public testing::TestWithParam<LessonCase> {};

INSTANTIATE_TEST_SUITE_P(
    Programs, EveryLesson,
    testing::Values(
        LessonCase{"lesson00", {{"reduce0", 1}, {"reduce0a", 1}}},
        LessonCase{"lesson01", {{"reduce0a", 1}, {"reduce1", 1}}},
        LessonCase{"lesson02", {{"reduce1", 1}, {"reduce2", 1}}},
        LessonCase{"lesson03", {{"reduce2", 1}, {"reduce3", 1}}},
        LessonCase{"lesson04", {{"reduce3", 1}, {"reduce4", 1}}},
        LessonCase{"lesson05", {{"reduce4", 1}, {"reduce5", 1}}},
        LessonCase{"lesson06", {{"reduce5", 1}, {"reduce6", 1}}},
        LessonCase{"lesson07", {{"reduce6", 1}, {"reduce7"}}},
        LessonCase{"lesson08", {{"reduce7"}, {"reduce8"}}},
        LessonCase{"lesson09", {{"reduce8"}, {"reduce9", 0, Stores::partial_sums_twice_and_the_sum}}},
        LessonCase{"lesson10",
                   {{"reduceNeighboredGmem"}, {"reduceNeighboredSmem"}, {"reduceGmem"}, {"reduceSmem"}}},
        LessonCase{"lesson11", {{"reduceGmem"}, {"reduceSmem"}, {"reduceGmemUnroll"}, {"reduceSmemUnroll"}}},
        LessonCase{"lesson12",
                   {{"reduceSmem"}, {"reduceSmemDyn", 1}, {"reduceSmemUnroll"}, {"reduceSmemUnrollDyn", 1}}},
        LessonCase{"lesson13",
                   {{"sequential_reduction", 0, Stores::the_sum},
                    {"naive_reduction", 0, Stores::the_sum},
                    {"warp_reduction", 0, Stores::the_sum},
                    {"block_reduction", 0, Stores::the_sum}}},
        LessonCase{"lesson14", {{"blocked_reduction"}, {"strided_reduction"}, {"smem_reduction", 1}}, 250},
        LessonCase{"lesson15",
                   {{"segmented_blocked", 0, Stores::the_sum},
                    {"segmented_strided", 0, Stores::the_sum},
                    {"segmented_smem", 1, Stores::the_sum},
                    {"coarse_reduction", 1, Stores::the_sum}},
                   100'000,
                   {"sequential_reduction", "naive_reduction", "warp_reduction", "block_reduction"}},
        LessonCase{"lesson22", {{"reduce_any", 0, Stores::partial_sums_twice_and_the_sum}}},
        // 256 ints per warp are 8 per thread
        LessonCase{"lesson26",
                   {{"histogram_global", 0, Stores::bins},
                    {"histogram_shared", 0, Stores::bins},
                    {"histogram_private", 8, Stores::bins},
                    {"histogram_vectors", 0, Stores::bins}}},
        // 4 stages of 32 KiB for 128 threads
        LessonCase{"lesson28", {{"reduce8"}, {"reduce10", 256}, {"reduce11", 256}}}),
    [](const auto& info) { return info.param.name; });

TEST_P(EveryLesson, prints_a_table) {
    const ProgramResult result = run_lesson(GetParam().name, GetParam().with_n());
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr(GetParam().name + ": "),
                                  HasSubstr(GetParam().n == 250 ? "250 random ints" : "100,000 random ints"),
                                  AnyOf(HasSubstr(" yes"), HasSubstr("\nverified: all ")),
                                  Not(AnyOf(HasSubstr(" NO"), HasSubstr("WRONG")))));
    for (const KernelCase& kernel : GetParam().kernels) {
        // A long name may be broken after "_" and before a capital letter.
        const std::string start =
            kernel.name.substr(0, kernel.name.find_first_of("_ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
        EXPECT_THAT(result.out, HasSubstr(start)) << kernel.name;
    }
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
    for (const std::string& kernel : GetParam().more_kernels) EXPECT_THAT(result.out, Not(HasSubstr(kernel)));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1)
        << "one line says which device: " << result.err;
}

TEST_P(EveryLesson, prints_json) {
    const ProgramResult result =
        run_lesson(GetParam().name, GetParam().with_n() + " --seed 7 --block 128 --format json");
    ASSERT_EQ(result.status, 0) << result.err;
    const json report = json::parse(result.out);
    EXPECT_EQ(report["lesson"], GetParam().name);
    EXPECT_FALSE(report["title"].get<std::string>().empty());
    EXPECT_EQ(report["elements"], GetParam().n);
    EXPECT_EQ(report["seed"], 7);
    EXPECT_EQ(report["device"]["kind"], on_gpu() ? "gpu" : "emulator");
    ASSERT_EQ(report["kernels"].size(), GetParam().kernels.size());
    for (std::size_t i = 0; i < GetParam().kernels.size(); ++i) {
        const json& kernel = report["kernels"][i];
        const KernelCase& expected = GetParam().kernels[i];
        EXPECT_EQ(kernel["name"], expected.name);
        EXPECT_EQ(kernel["verified"], true);
        EXPECT_EQ(kernel["expected"], kernel["actual"]);
        EXPECT_EQ(kernel["block"], json::array({expected.name == "sequential_reduction" ? 1 : 128, 1, 1}));
        EXPECT_EQ(kernel["dynamic_shared_bytes"], 128 * 4 * expected.shared_ints_per_thread);
        const int blocks = kernel["grid"][0];
        const int stored = expected.stores == Stores::the_sum        ? 1
                           : expected.stores == Stores::bins         ? 256
                           : expected.stores == Stores::partial_sums ? blocks
                                                                     : 2 * blocks + 1;
        EXPECT_EQ(kernel["bytes"], (GetParam().n + stored) * 4);
        EXPECT_EQ(kernel["counters"].is_null(), on_gpu());
        for (const char* key : {"time_us", "bandwidth_gbs"})
            EXPECT_EQ(kernel[key].is_null(), !on_gpu()) << key;
    }
}

TEST_P(EveryLesson, prints_csv) {
    const ProgramResult result = run_lesson(GetParam().name, GetParam().with_n() + " --format csv");
    EXPECT_EQ(result.status, 0) << result.err;
    std::istringstream stream(result.out);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    ASSERT_EQ(lines.size(), 1 + GetParam().kernels.size());
    EXPECT_THAT(lines[0], HasSubstr("lesson,title,device_kind,"));
    for (std::size_t i = 0; i < GetParam().kernels.size(); ++i) {
        EXPECT_THAT(lines[i + 1], HasSubstr("," + GetParam().kernels[i].name + ","));
    }
}

TEST_P(EveryLesson, verifies_only) {
    const ProgramResult result = run_lesson(GetParam().name, GetParam().with_n() + " --verify");
    EXPECT_EQ(result.status, 0) << result.err;
    for (const KernelCase& kernel : GetParam().kernels)
        EXPECT_THAT(result.out, HasSubstr(kernel.name + ": verified, "));
    const json report = json::parse(run_lesson(GetParam().name, "--n 1000 --verify --format json").out);
    EXPECT_TRUE(report["kernels"][0]["counters"].is_null());
    EXPECT_TRUE(report["kernels"][0]["time_us"].is_null());
}

TEST_P(EveryLesson, answers_without_a_device) {
    // A device that cannot be had would be an error, if it were asked for.
    const ProgramResult list = run_program("./" + GetParam().name + " --list");
    EXPECT_EQ(list.status, 0);
    std::string names;
    for (const std::string& kernel : GetParam().more_kernels) names += kernel + "\n";
    for (const KernelCase& kernel : GetParam().kernels) names += kernel.name + "\n";
    EXPECT_EQ(list.out, names);
    EXPECT_EQ(list.err, "");
    const ProgramResult version = run_program("./" + GetParam().name + " --version");
    EXPECT_EQ(version.status, 0);
    EXPECT_THAT(version.out, HasSubstr(GetParam().name + " 0."));
    const ProgramResult help = run_program("./" + GetParam().name + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, AllOf(HasSubstr("Usage: ./" + GetParam().name), HasSubstr("Examples:"),
                                HasSubstr("Exit status:")));
    EXPECT_EQ(help.err, "");
}

TEST_P(EveryLesson, is_right_for_one_element_and_for_the_largest_block) {
    EXPECT_EQ(run_lesson(GetParam().name, "--n 1 --block 32 --verify").status, 0);
    const std::string n = GetParam().name == "lesson14" ? "2047" : "2049";
    EXPECT_EQ(run_lesson(GetParam().name, "--n " + n + " --block 1024 --verify").status, 0);
}

struct TileLesson {
    std::string name;
    std::vector<std::string> kernels;
    int height = 32;
    int padding = 0; ///< the default
    friend void PrintTo(const TileLesson& lesson, std::ostream* out) { *out << lesson.name; }
};

class EveryTileLesson : public testing::TestWithParam<TileLesson> {};

INSTANTIATE_TEST_SUITE_P(
    Programs, EveryTileLesson,
    testing::Values(
        TileLesson{"lesson16", {"setRowReadRow", "setColReadCol", "setRowReadCol"}},
        TileLesson{"lesson17", {"setRowReadCol", "setRowReadColDyn"}},
        TileLesson{"lesson18", {"setRowReadCol", "setRowReadColPad", "setRowReadColDynPad"}, 32, 1},
        TileLesson{"lesson19", {"setRowReadRow", "setColReadCol", "setRowReadCol"}, 16},
        TileLesson{"lesson20", {"setRowReadCol", "setRowReadColDyn"}, 16},
        TileLesson{"lesson21", {"setRowReadCol", "setRowReadColPad", "setRowReadColDynPad"}, 16, 2}),
    [](const auto& info) { return info.param.name; });

TEST_P(EveryTileLesson, prints_a_map_and_a_table) {
    const ProgramResult result = run_lesson(GetParam().name, "");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr(GetParam().name + ": "), HasSubstr("A column is a bank."),
                                  HasSubstr("smallest padding without conflicts: "), Not(HasSubstr("NO"))));
    for (const std::string& kernel : GetParam().kernels)
        EXPECT_THAT(result.out, HasSubstr("\n" + kernel + ": a tile"));
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST_P(EveryTileLesson, prints_json) {
    const json report = json::parse(run_lesson(GetParam().name, "--format json").out);
    EXPECT_EQ(report["elements"], 32 * GetParam().height);
    EXPECT_TRUE(report["seed"].is_null());
    EXPECT_EQ(report["options"],
              (json{{"--width", 32}, {"--height", GetParam().height}, {"--padding", GetParam().padding}}));
    ASSERT_EQ(report["kernels"].size(), GetParam().kernels.size());
    for (std::size_t i = 0; i < GetParam().kernels.size(); ++i) {
        EXPECT_EQ(report["kernels"][i]["name"], GetParam().kernels[i]);
        EXPECT_EQ(report["kernels"][i]["verified"], true);
        EXPECT_EQ(report["kernels"][i]["block"], json::array({32, GetParam().height, 1}));
    }
}

TEST_P(EveryTileLesson, verifies_every_padding) {
    for (int padding = 0; padding <= 33; ++padding) {
        const ProgramResult result =
            run_lesson(GetParam().name, "--verify --padding " + std::to_string(padding));
        EXPECT_EQ(result.status, 0) << result.err;
        // Where the lesson's own kernels have none, the padded one stands beside them.
        EXPECT_EQ(result.out.find("Pad: verified") != std::string::npos,
                  padding > 0 || GetParam().padding > 0);
    }
}

TEST_P(EveryTileLesson, answers_without_a_device) {
    const ProgramResult help = run_program("./" + GetParam().name + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, AllOf(HasSubstr("--width W"), HasSubstr("--height H"), HasSubstr("--padding P"),
                                Not(HasSubstr("--n ")), Not(HasSubstr("random"))));
    for (const std::string& kernel : GetParam().kernels)
        EXPECT_THAT(run_program("./" + GetParam().name + " --list").out, HasSubstr(kernel + "\n"));
}

TEST_P(EveryTileLesson, says_what_is_wrong_with_a_tile) {
    const auto expect_error = [](const std::string& arguments, const std::string& message) {
        const ProgramResult result = run_lesson(GetParam().name, arguments);
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_EQ(result.out, "") << arguments;
        EXPECT_THAT(result.err, HasSubstr(message)) << arguments;
    };
    expect_error("--padding 34", "--padding 34: too large. Write a whole number from 0 to 33.");
    expect_error("--width 0", "--width 0: too small.");
    expect_error("--width 33 --height 33", "1,024");
    expect_error(
        "--n 1000",
        "--n: this lesson's kernels make their data themselves. It has --width, --height, --padding.");
    if (GetParam().name < "lesson19") expect_error("--width 24 --height 7", "lesson19");
}

TEST(Program, gives_the_same_sum_for_every_kernel_and_another_for_another_seed) {
    const json first = json::parse(run_lesson("lesson02", "--n 5000 --seed 1 --verify --format json").out);
    const json second = json::parse(run_lesson("lesson02", "--n 5000 --seed 2 --verify --format json").out);
    EXPECT_EQ(first["kernels"][0]["actual"], first["kernels"][1]["actual"]);
    EXPECT_NE(first["kernels"][0]["actual"], second["kernels"][0]["actual"]);
}

TEST(Program, runs_the_kernels_asked_for) {
    const json report = json::parse(run_lesson("lesson03", "--n 1000 --kernel reduce3 --format json").out);
    ASSERT_EQ(report["kernels"].size(), 1u);
    EXPECT_EQ(report["kernels"][0]["name"], "reduce3");
}

TEST(Program, takes_options_of_its_own) {
    EXPECT_EQ(run_lesson("lesson06", "--n 1000 --elements-per-thread 7 --verify").status, 0);
    EXPECT_THAT(run_lesson("lesson06", "--help").out, HasSubstr("--elements-per-thread E\n"));
    for (const char* lesson : {"lesson08", "lesson09"}) {
        EXPECT_EQ(run_lesson(lesson, "--n 1000 --offset 3 --verify").status, 0);
        EXPECT_THAT(run_lesson(lesson, "--help").out, HasSubstr("--offset K      the input starts K ints"));
        const ProgramResult bad = run_lesson(lesson, "--offset -1");
        EXPECT_EQ(bad.status, 2);
        EXPECT_THAT(bad.err, HasSubstr("--offset -1: negative. Write a whole number from 0 to 1,048,576."));
    }
    EXPECT_EQ(run_lesson("lesson03", "--offset 3").status, 2);
}

TEST(Program, reports_options_that_differ_from_their_default) {
    const json changed = json::parse(run_lesson("lesson08", "--n 1000 --offset 3 --format json").out);
    EXPECT_EQ(changed["options"], (json{{"--offset", 3}}));
    EXPECT_THAT(run_lesson("lesson08", "--n 1000 --offset 3").out, HasSubstr("seed 42, --offset 3\n"));
    EXPECT_THAT(run_lesson("lesson08", "--n 1000 --offset 0").out, HasSubstr("seed 42\n"));
    EXPECT_EQ(json::parse(run_lesson("lesson08", "--n 1000 --format json").out)["options"], json::object());
}

TEST(Program, says_of_which_kernel_it_shows_the_first_pass_only) {
    EXPECT_THAT(run_lesson("lesson09", "--n 100000").out,
                HasSubstr(" are of the first launch, which leaves one partial sum per block;\n"
                          "those of reduce9 are of the whole result.\n"));
    EXPECT_THAT(run_lesson("lesson08", "--n 100000").out,
                HasSubstr(" are of the first launch, which leaves one partial sum per block.\n"));
}

TEST(Program, launches_once_in_every_run) {
    // The counter of reduce9 is zeroed only once, before the first of them.
    EXPECT_EQ(run_lesson("lesson09", "--n 100000 --kernel reduce9 --repeat 5 --verify").status, 0);
}

TEST(Program, is_a_link_away) {
    // `make lesson03` puts a link in the repository's root; the emulator is found from where the program
    // really is.
    const ProgramResult result =
        run_program("folder=$(mktemp -d) && ln -s $PWD/lesson03 $folder/lesson03 && cd $folder && "
                    "./lesson03 --n 1000 --verify; status=$?; rm -r $folder; exit $status");
    EXPECT_EQ(result.status, 0) << result.err;
}

TEST(Device, is_told_once_and_with_the_reason) {
    const ProgramResult forced = run_program("./lesson03 --device emulator --n 1000 --verify");
    EXPECT_EQ(forced.status, 0);
    EXPECT_EQ(forced.err, "lesson03: --device emulator was asked for, so the emulator runs the kernels\n");
    // Hides every GPU.
    const ProgramResult chosen = run_program("CUDA_VISIBLE_DEVICES= ./lesson03 --n 1000 --verify");
    EXPECT_EQ(chosen.status, 0);
    EXPECT_THAT(chosen.err, AllOf(HasSubstr("lesson03: no usable GPU: "), HasSubstr("(cudaError"),
                                  HasSubstr("), so the emulator runs the kernels\n")));
}

TEST(Device, exits_with_3_and_the_errors_name_without_a_gpu) {
    const ProgramResult result = run_program("CUDA_VISIBLE_DEVICES= ./lesson03 --device gpu");
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("lesson03: --device gpu: no usable GPU: "), HasSubstr("(cudaError")));
}

TEST(Device, is_no_gpu_behind_the_emulator) {
    const ProgramResult result = run_program("LD_LIBRARY_PATH=$PWD/../emulator ./lesson03 --device gpu");
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.err, HasSubstr("the emulator stands in for the CUDA runtime here"));
    EXPECT_THAT(result.err, HasSubstr("cudaErrorNoDevice"));
}

TEST(Device, may_be_an_emulator_that_is_loaded_already) {
    const ProgramResult result = run_program("LD_LIBRARY_PATH=$PWD/../emulator ./lesson03 --n 1000 --verify");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "lesson03: the emulator is loaded already and runs the kernels\n");
}

#ifdef __x86_64__
TEST(Device, may_be_an_emulator_for_this_processor_alone) {
    // As `make lesson03` leaves it: only the best variant is built. What the processor
    // can't run is passed over.
    const ProgramResult result = run_program(
        "folder=$(mktemp -d) && mkdir -p $folder/bin $folder/emulator/glibc-hwcaps/x86-64-v3 && "
        "cp lesson03 $folder/bin && "
        "cp $(find ../emulator -name observing -prune -o -name 'libcudart.so.*' -print -quit) "
        "$folder/emulator/glibc-hwcaps/x86-64-v3 && "
        "$folder/bin/lesson03 --device emulator --n 1000 --verify; status=$?; rm -r $folder; exit $status");
    EXPECT_EQ(result.status, __builtin_cpu_supports("avx2") ? 0 : 3) << result.err;
}
#endif

TEST(Device, is_not_looked_for_in_a_circle) {
    // A program of that folder is the same file, but has no emulator beside it.
    const ProgramResult missing =
        run_program("folder=$(mktemp -d) && mkdir $folder/bin && cp lesson03 $folder/bin && "
                    "$folder/bin/lesson03 --device emulator; status=$?; rm -r $folder; exit $status");
    EXPECT_EQ(missing.status, 3);
    EXPECT_THAT(missing.err, AllOf(HasSubstr("the emulator is missing: there is no /"),
                                   HasSubstr("/emulator/libcudart.so.")));
    // The CUDA runtime itself in the emulator's place: once more started, the program sees that this changed
    // nothing.
    const ProgramResult useless = run_program(
        "folder=$(mktemp -d) && mkdir $folder/bin $folder/emulator && cp lesson03 $folder/bin && "
        "cp $(ldd lesson03 | sed -n 's/.*libcudart.* => \\([^ ]*\\).*/\\1/p') $folder/emulator && "
        "(ulimit -t 20 && exec $folder/bin/lesson03 --device emulator); status=$?; rm -r $folder; exit "
        "$status");
    EXPECT_EQ(useless.status, 3);
    EXPECT_THAT(useless.err, HasSubstr("the emulator was not loaded although LD_LIBRARY_PATH begins with"));
}

struct BadInput {
    const char* arguments;
    int status;
    const char* message;
    friend void PrintTo(const BadInput& bad, std::ostream* out) { *out << bad.arguments; }
};

class BadArgument : public testing::TestWithParam<BadInput> {};

TEST_P(BadArgument, gets_a_clear_error_and_its_exit_status) {
    const ProgramResult result = run_program("./lesson03 " + std::string(GetParam().arguments));
    EXPECT_EQ(result.status, GetParam().status);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, BadArgument,
    testing::Values(
        BadInput{"--n 0", 2,
                 "lesson03: --n 0: there would be nothing to sum. Write a whole number from 1 up"},
        BadInput{"--n -5", 2, "lesson03: --n -5: negative. Write"},
        BadInput{"--n abc", 2, "lesson03: --n abc: not a whole number. Write"},
        BadInput{"--n 1e99", 2, "lesson03: --n 1e99: 'e99' is no unit"},
        BadInput{"--n 16Q", 2, "lesson03: --n 16Q: 'Q' is no unit; these are: k, M, G, Ki, Mi, Gi. Write"},
        BadInput{"--n 2^63 --device emulator", 3, "lesson03: too little device memory: "},
        BadInput{"--n 2^45 --device emulator", 3, "cudaErrorMemoryAllocation"},
        BadInput{"--block 0", 2, "lesson03: --block 0: a block should fill at least one warp"},
        BadInput{"--block 48", 2, "lesson03: --block 48: not a power of two"},
        BadInput{"--block 2048", 2, "lesson03: --block 2048: a block has at most 1024 threads"},
        BadInput{"--kernel reduce7", 2,
                 "lesson03: --kernel reduce7: unknown. This lesson's kernels are: reduce2, reduce3."},
        BadInput{"--format xml", 2, "lesson03: --format xml: unknown. Write one of: text, json, csv."},
        BadInput{"--device cpu", 2, "lesson03: --device cpu: unknown. Write one of: auto, gpu, emulator."},
        BadInput{"--formt json", 2, "Did you mean --format?"}, BadInput{"1000", 2, "Try: ./lesson03 --help"}),
    [](const auto& info) { return test_name(info.param.arguments); });

TEST(StandardOutput, may_be_closed) {
    const ProgramResult result = run_program("./lesson03 --n 1000 >&-");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("lesson03: standard output is closed"));
}

TEST(StandardOutput, may_be_full) {
    for (const char* arguments : {"--n 1000", "--help", "--n 1000 --format json"}) {
        const ProgramResult result = run_program("./lesson03 " + std::string(arguments) + " >/dev/full");
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.err,
                    HasSubstr("could not write the results to standard output: No space left on device"));
    }
}

TEST(StandardOutput, may_be_a_pipe_that_nobody_reads) {
    // The lesson starts when the pipe has lost its reader: when `echo` can write no more.
    const ProgramResult result =
        run_program("(trap '' PIPE; while echo 2>/dev/null; do :; done; trap - PIPE; "
                    "./lesson03 --n 1000; echo status $? >&2) | true");
    EXPECT_THAT(result.err, AllOf(HasSubstr("could not write the results to standard output: Broken pipe"),
                                  HasSubstr("status 2")));
}

TEST(StandardError, may_be_closed) {
    EXPECT_EQ(run_program("./lesson03 --n 1000 --verify 2>&-").status, 0);
    EXPECT_EQ(run_program("./lesson03 --n 0 2>&-").status, 2);
    EXPECT_EQ(run_program("./lesson03 --n 1000 >&- 2>&- <&-").status, 2);
}

TEST(StandardError, is_quiet_about_progress_where_it_is_no_terminal) {
    EXPECT_THAT(run_program("./lesson03 --device emulator --n 1000").err, Not(HasSubstr("\r")));
}

} // namespace program_test

// The counters of lessons 13 to 15, to the digit, as they follow from each kernel's access pattern; lesson
// 14's tables of steps; and what the three programs do with their options.
//
// Neighboring lanes that load neighboring ints: a warp's request is 128 bytes, 4 sectors. So n ints are
// ceil(n / 8) sectors and ceil(n / 32) requests. An atomic on one word is one sector for all lanes of its
// warp that take part: the compiler has them summed up first, and one lane add the sum (lesson 13 shows the
// machine code; the emulator counts accordingly).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "../../lessons/lesson14_one_block/steps.hpp"
#include "harness/reduction.hpp"
#include "launch.hpp"

namespace first_principles_counters_test {

using harness::ceil_div;
using testing::AllOf, testing::HasSubstr, testing::Not;

constexpr std::uint64_t mega = 1 << 20;

constexpr const char* barriers = "ptx__thread_inst_executed_op_bar";
constexpr const char* splits = "smsp__sass_branch_targets_threads_divergent";

struct Size {
    std::uint64_t n;
    unsigned int block;
    std::uint64_t blocks() const { return ceil_div(n, block); }
    std::uint64_t sectors() const { return ceil_div(n, 8); }
    std::uint64_t requests() const { return ceil_div(n, 32); }
};
// Full blocks; 28 full warps, one of 4 lanes and three without elements; two full warps and one of one lane.
constexpr Size sizes[] = {{16 * mega, 256}, {900, 128}, {65, 32}};

// ---- lesson 13 ----

TEST(SequentialReduction, makes_a_request_for_each_element) {
    for (const std::uint64_t n : {16 * mega, std::uint64_t{900}, std::uint64_t{1}}) {
        const Launch launch("lesson13", "sequential_reduction", arguments(n, 256));
        EXPECT_EQ(launch.blocks(), 1u);
        EXPECT_EQ(launch.requests("ld"), n);
        EXPECT_EQ(launch.sectors("ld"), n); // one lane, one int, one sector
        EXPECT_EQ(launch.requests("st"), 1u);
        EXPECT_EQ(launch.sectors("st"), 1u);
        EXPECT_EQ(launch.sectors("red"), 0u);
        EXPECT_EQ(launch.sectors("atom"), 0u);
    }
}

/// Common to the three kernels with atomics. None stores to global memory, or uses an atomic's result.
void expect_coalesced_loads(const Launch& launch, const Size& size) {
    EXPECT_EQ(launch.blocks(), size.blocks());
    EXPECT_EQ(launch.sectors("ld"), size.sectors());
    EXPECT_EQ(launch.requests("ld"), size.requests());
    EXPECT_EQ(launch.sectors("st"), 0u);
    EXPECT_EQ(launch.sectors("atom"), 0u);
}

TEST(NaiveReduction, has_an_atomic_request_for_each_warp_that_has_elements) {
    for (const Size& size : sizes) {
        SCOPED_TRACE(arguments(size.n, size.block));
        const Launch launch("lesson13", "naive_reduction", arguments(size.n, size.block));
        expect_coalesced_loads(launch, size);
        EXPECT_EQ(launch.sectors("red"), size.requests());
        EXPECT_EQ(launch.wavefronts("ld") + launch.wavefronts("st"), 0u);
    }
}

TEST(WarpReduction, has_an_atomic_for_each_warp) {
    for (const Size& size : sizes) {
        SCOPED_TRACE(arguments(size.n, size.block));
        const Launch launch("lesson13", "warp_reduction", arguments(size.n, size.block));
        expect_coalesced_loads(launch, size);
        EXPECT_EQ(launch.sectors("red"), size.blocks() * size.block / 32); // also where the sum is of zeros
        EXPECT_EQ(launch.wavefronts("ld") + launch.wavefronts("st"), 0u);
        // Where a warp splits: at lane 0, and at the guard if n ends within it.
        EXPECT_EQ(launch.counter(splits), size.blocks() * size.block / 32 + (size.n % 32 != 0));
    }
}

TEST(BlockReduction, has_an_atomic_for_each_block) {
    for (const Size& size : sizes) {
        SCOPED_TRACE(arguments(size.n, size.block));
        const Launch launch("lesson13", "block_reduction", arguments(size.n, size.block));
        expect_coalesced_loads(launch, size);
        EXPECT_EQ(launch.sectors("red"), size.blocks());
        // Shared memory: a zero stored, the sum loaded. (The warps' atomics there are neither.)
        EXPECT_EQ(launch.wavefronts("st"), size.blocks());
        EXPECT_EQ(launch.wavefronts("ld"), size.blocks());
        // Every thread reaches both barriers, including those without an element.
        EXPECT_EQ(launch.counter(barriers), 2 * size.blocks() * size.block);
    }
}

// ---- lesson 14 ----

// 2,048 ints, 1,024 threads in 32 warps.
//   blocked   stride         1    2    4    8   16   32   64  128  256  512 1024
//             lanes a warp  32   16    8    4    2    1    1    1    1    1    1
//             warps         32   32   32   32   32   32   16    8    4    2    1   sum 223
//             sectors       16   16   16    8    4    2    2    2    2    2    2   loaded by a warp, in two
//                                                                                  requests; stored: half
//     The lanes' own ints lie 2 x stride apart: 32 lanes at 8 bytes, 16 at 16, 8 at 32: 256 bytes, 8 sectors
//     and 8 for their partners. From there on each lane has a sector of its own, and one for its partner
//     (stride 4: in the same sector, and yet it is another request).
//     loaded: 32 x (16 x 3 + 8 + 4 + 2) + 2 x (16 + 8 + 4 + 2 + 1) = 1,984 + 62 = 2,046, and the result
//   strided   stride      1024  512  256  128   64   32   16    8    4    2    1
//             lanes a warp  32   32   32   32   32   32   16    8    4    2    1
//             warps         32   16    8    4    2    1    1    1    1    1    1   sum 68
//             sectors        8    8    8    8    8    8    4    2    2    2    2
//     loaded: 8 x (32 + 16 + 8 + 4 + 2 + 1) + 4 + 4 x 2 = 504 + 12 = 516, and the result
//   smem      the same first step, 64 requests of 4 sectors. In shared memory 32 stores, then 68 - 32 = 36
//             warps with two loads and a store, and the result.
// A warp splits where some of its lanes add: blocked in 5 x 32 + 16 + 8 + 4 + 2 + 1 = 191, strided and smem
// in the 5 steps below 32; and all at thread 0.
TEST(OneBlock, has_the_counters_that_follow_from_its_access_pattern) {
    const struct {
        const char* kernel;
        std::uint64_t load_sectors, load_requests, store_sectors, store_requests;
        std::uint64_t shared_loads, shared_stores, splits;
    } cases[] = {{"blocked_reduction", 2046 + 1, 2 * 223 + 1, 1023 + 1, 223 + 1, 0, 0, 191 + 1},
                 {"strided_reduction", 516 + 1, 2 * 68 + 1, 258 + 1, 68 + 1, 0, 0, 5 + 1},
                 {"smem_reduction", 256, 64, 1, 1, 2 * 36 + 1, 32 + 36, 5 + 1}};
    for (const auto& expected : cases) {
        SCOPED_TRACE(expected.kernel);
        const Launch launch("lesson14", expected.kernel, arguments(2048, 1024));
        EXPECT_EQ(launch.blocks(), 1u);
        EXPECT_EQ(launch.sectors("ld"), expected.load_sectors);
        EXPECT_EQ(launch.requests("ld"), expected.load_requests);
        EXPECT_EQ(launch.sectors("st"), expected.store_sectors);
        EXPECT_EQ(launch.requests("st"), expected.store_requests);
        EXPECT_EQ(launch.sectors("red") + launch.sectors("atom"), 0u);
        EXPECT_EQ(launch.wavefronts("ld"), expected.shared_loads);
        EXPECT_EQ(launch.wavefronts("st"), expected.shared_stores);
        EXPECT_EQ(launch.conflicts("ld") + launch.conflicts("st"), 0u);
        EXPECT_EQ(launch.counter(splits), expected.splits);
        EXPECT_EQ(launch.counter(barriers), 11 * 1024u); // one a step
    }
}

Step total(const std::vector<Step>& steps) {
    Step sum;
    for (const Step& step : steps) {
        sum.threads += step.threads;
        sum.warps += step.warps;
        sum.loaded_sectors += step.loaded_sectors;
        sum.stored_sectors += step.stored_sectors;
    }
    return sum;
}

class Tables : public testing::TestWithParam<std::pair<const char*, Tree>> {};
INSTANTIATE_TEST_SUITE_P(Lesson14, Tables,
                         testing::Values(std::pair{"blocked_reduction", Tree::blocked},
                                         std::pair{"strided_reduction", Tree::strided},
                                         std::pair{"smem_reduction", Tree::smem}),
                         [](const auto& info) { return info.param.first; });

// In addition to the steps, thread 0 of the two that work in place loads the sum, and each stores the result.
TEST_P(Tables, agree_with_the_counters) {
    const auto& [kernel, tree] = GetParam();
    for (const auto& [n, block] : {Size{1, 32},
                                   {2, 32},
                                   {33, 32},
                                   {63, 32},
                                   {64, 32},
                                   {64, 1024},
                                   {100, 64},
                                   {500, 256},
                                   {1000, 512},
                                   {1025, 1024},
                                   {1999, 1024},
                                   {2048, 1024}}) {
        SCOPED_TRACE(arguments(n, block));
        const std::vector<Step> steps = count_steps(tree, n, block, 32);
        const Step sum = total(steps);
        const Launch launch("lesson14", kernel, arguments(n, block));
        // A barrier a step, to which every thread comes, with an element or without.
        EXPECT_EQ(launch.counter(barriers), steps.size() * block);
        EXPECT_EQ(launch.sectors("ld"), sum.loaded_sectors + (tree != Tree::smem));
        EXPECT_EQ(launch.sectors("st"), sum.stored_sectors + 1);
        if (tree == Tree::smem) { // each of its warps loads twice, and once more to store the result
            const Step first = count_step(tree, n, block, 32, block);
            EXPECT_EQ(launch.wavefronts("ld"), 2 * (sum.warps - first.warps) + 1);
        } else {
            EXPECT_EQ(launch.requests("ld"), 2 * sum.warps + 1);
            EXPECT_EQ(launch.requests("st"), sum.warps + 1);
        }
    }
}

// Adds each element but the last to another one, once.
TEST_P(Tables, add_every_element_once) {
    const auto& [kernel, tree] = GetParam();
    if (tree == Tree::smem) return; // it adds zeros, too
    for (const Size& size : {Size{1, 8}, {15, 8}, {16, 8}, {1999, 1024}, {2048, 1024}})
        EXPECT_EQ(total(count_steps(tree, size.n, size.block, 4)).threads, size.n - 1);
}

TEST(Lesson14, shows_which_threads_add_in_each_step) {
    const std::string out = run_program("./lesson14 --device emulator").out;
    for (const char* row :
         {"       2        4      2      50.0 %               4       2   0 . 2 . | 4 . 6 .\n",
          "       4        4      1     100.0 %               2       1   0 1 2 3 | . . . .\n",
          "   total       15      7      53.6 %              14       7\n",
          "   total       15      5      75.0 %              10       5\n",
          "   total    2,047    223      28.7 %           2,046   1,023\n",
          "   total    2,047     68      94.1 %             516     258\n",
          "   total    2,047     68      94.1 %             256       0\n"})
        EXPECT_THAT(out, HasSubstr(row));
}

TEST(Lesson14, says_which_lesson_sums_more_and_which_block_is_too_small) {
    const ProgramResult many = run_program("./lesson14 --n 2049");
    EXPECT_EQ(many.status, 2);
    EXPECT_THAT(many.err, AllOf(HasSubstr("--n 2049"), HasSubstr("lesson15 sums any number.")));
    const ProgramResult small = run_program("./lesson14 --device emulator --n 1025 --block 512");
    EXPECT_EQ(small.status, 2);
    EXPECT_THAT(small.err,
                HasSubstr("lesson14: --block 512: one block of 512 threads sums 1,024 ints at most, "
                          "not 1,025. Choose a larger --block or a smaller --n.\n"));
    EXPECT_EQ(run_program("./lesson14 --device emulator --n 1024 --block 512 --verify").status, 0);
}

// ---- lesson 15 ----

// A segment of 512 ints, 256 threads in 8 warps.
//   blocked   stride         1    2    4    8   16   32   64  128  256
//             warps          8    8    8    8    8    8    4    2    1      sum 55
//             sectors       16   16   16    8    4    2    2    2    2      loaded by a warp
//     loaded: 8 x (16 x 3 + 8 + 4 + 2) + 2 x (4 + 2 + 1) = 510; stored: half; and the segment's sum loaded
//   strided   stride       256  128   64   32   16    8    4    2    1
//             warps          8    4    2    1    1    1    1    1    1      sum 20
//             sectors        8    8    8    8    4    2    2    2    2
//     loaded: 8 x (8 + 4 + 2 + 1) + 4 + 4 x 2 = 132
//   smem      8 warps load twice; in shared memory 8 stores, then 20 - 8 = 12 warps, and the sum: 25 loads,
//   20
//             stores
// Each block adds once.
TEST(Segments, have_the_counters_that_follow_from_their_access_pattern) {
    const std::uint64_t n = 16 * mega, blocks = n / 512;
    const struct {
        const char* kernel;
        std::uint64_t load_sectors, load_requests, store_sectors, store_requests, shared_loads, shared_stores;
    } cases[] = {{"segmented_blocked", 510 + 1, 2 * 55 + 1, 255, 55, 0, 0},
                 {"segmented_strided", 132 + 1, 2 * 20 + 1, 66, 20, 0, 0},
                 {"segmented_smem", 64, 16, 0, 0, 25, 20}};
    for (const auto& expected : cases) {
        SCOPED_TRACE(expected.kernel);
        const Launch launch("lesson15", expected.kernel, arguments(n, 256));
        EXPECT_EQ(launch.blocks(), blocks);
        EXPECT_EQ(launch.sectors("ld"), blocks * expected.load_sectors);
        EXPECT_EQ(launch.requests("ld"), blocks * expected.load_requests);
        EXPECT_EQ(launch.sectors("st"), blocks * expected.store_sectors);
        EXPECT_EQ(launch.requests("st"), blocks * expected.store_requests);
        EXPECT_EQ(launch.wavefronts("ld"), blocks * expected.shared_loads);
        EXPECT_EQ(launch.wavefronts("st"), blocks * expected.shared_stores);
        EXPECT_EQ(launch.conflicts("ld") + launch.conflicts("st"), 0u);
        EXPECT_EQ(launch.sectors("red"), blocks);
        EXPECT_EQ(launch.sectors("atom"), 0u);
    }
}

// 868 ints in segments of 256: three full ones, and one of 100, in which 28 of the 128 threads have no
// element and come to every barrier all the same.
TEST(Segments, are_lesson14s_trees_also_where_the_input_ends) {
    for (const auto& [kernel, tree] :
         {std::pair{"segmented_blocked", Tree::blocked}, std::pair{"segmented_strided", Tree::strided},
          std::pair{"segmented_smem", Tree::smem}}) {
        SCOPED_TRACE(kernel);
        const Step full = total(count_steps(tree, 256, 128, 32)),
                   last = total(count_steps(tree, 100, 128, 32));
        const Launch launch("lesson15", kernel, arguments(868, 128));
        EXPECT_EQ(launch.blocks(), 4u);
        EXPECT_EQ(launch.sectors("ld"),
                  3 * full.loaded_sectors + last.loaded_sectors + (tree != Tree::smem ? 4 : 0));
        EXPECT_EQ(launch.sectors("st"), 3 * full.stored_sectors + last.stored_sectors);
        EXPECT_EQ(launch.sectors("red"), 4u);
        EXPECT_EQ(launch.counter(barriers), 8 * 4 * 128u); // 128, 64, ... 1: one a step
    }
}

// Twice the factor, half the blocks, and the same tree in each block. The loads do not change.
TEST(Coarsening, takes_blocks_away_and_no_loads) {
    const std::uint64_t n = 16 * mega;
    for (const std::uint64_t coarsening : {1, 2, 4, 8, 16}) {
        SCOPED_TRACE(coarsening);
        const Launch launch("lesson15", "coarse_reduction",
                            arguments(n, 256) + " --coarsening " + std::to_string(coarsening));
        const std::uint64_t blocks = n / 512 / coarsening;
        EXPECT_EQ(launch.blocks(), blocks);
        EXPECT_EQ(launch.sectors("ld"), n / 8);
        EXPECT_EQ(launch.requests("ld"), n / 32);
        EXPECT_EQ(launch.sectors("red"), blocks);
        EXPECT_EQ(launch.wavefronts("ld"), 25 * blocks);
        EXPECT_EQ(launch.wavefronts("st"), 20 * blocks);
        EXPECT_EQ(launch.counter(barriers), 9 * 256 * blocks);
    }
}

TEST(Coarsening, is_a_power_of_two_up_to_16) {
    for (const char* wrong : {"0", "3", "5", "32", "1000000"}) {
        const ProgramResult result = run_program(std::string("./lesson15 --coarsening ") + wrong);
        EXPECT_EQ(result.status, 2);
        EXPECT_EQ(result.out, "");
        EXPECT_THAT(result.err, HasSubstr(std::string("lesson15: --coarsening ") + wrong +
                                          ": no kernel is compiled for it. Write 1, 2, 4, 8 or 16.\n"));
    }
}

// ---- all three ----

// A run does not leave what the next one needs: results must be zeroed again, and inputs restored.
TEST(FirstPrinciples, prepare_every_run_anew) {
    for (const char* lesson : {"lesson13", "lesson14", "lesson15"}) {
        const ProgramResult result = run_lesson(lesson, "--n 2000 --repeat 3 --verify");
        EXPECT_EQ(result.status, 0) << result.err;
    }
}

// ---- the sweep ----

std::vector<std::string> read_lines(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// Runs a command with its own folder in $folder; the command's output goes to stderr.
ProgramResult run_in_folder(const std::string& command) {
    return run_program("folder=$(mktemp -d) && { " + command + "; }; status=$?; rm -r $folder; exit $status");
}

TEST(SweepOnEmulator, writes_a_row_for_each_size_and_kernel) {
    const ProgramResult result = run_in_folder(
        "./lesson15 --device emulator --sweep --n 5000 --save $folder/new >&2 && cat $folder/new/*.csv");
    EXPECT_EQ(result.status, 0) << result.err;
    const std::vector<std::string> lines = read_lines(result.out);
    ASSERT_EQ(lines.size(), 1 + 3 * 8u); // 1024, 2048 and 4096 ints
    EXPECT_THAT(lines[0], HasSubstr("lesson,title,device_kind,"));
    std::size_t line = 1;
    for (const char* n : {"1024", "2048", "4096"}) {
        for (const char* kernel :
             {"sequential_reduction", "naive_reduction", "warp_reduction", "block_reduction",
              "segmented_blocked", "segmented_strided", "segmented_smem", "coarse_reduction"}) {
            EXPECT_THAT(lines[line++], AllOf(HasSubstr(std::string(",") + n + ",42,--sweep," + kernel + ","),
                                             HasSubstr(",true,")));
        }
    }
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("lesson15: 1,024 ints: 8 kernels verified\n"),
                      HasSubstr("lesson15: 4,096 ints: 8 kernels verified\n"), Not(HasSubstr("8,192")),
                      HasSubstr("/new/lesson15_sweep.csv\nTo draw it: scripts/plot_sweep /")));
}

TEST(Sweep, needs_a_size_to_begin_with_and_gives_no_report) {
    for (const auto& [arguments, message] :
         {std::pair{"--n 1023", "lesson15: --n 1023: --sweep begins with 1,024 ints"},
          std::pair{"--verify", "lesson15: --sweep measures, and --verify does not"},
          std::pair{"--format json", "lesson15: --sweep writes a CSV, and prints no report"}}) {
        const ProgramResult result = run_program(std::string("./lesson15 --sweep ") + arguments);
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.err, HasSubstr(message));
    }
    EXPECT_THAT(run_program("./lesson13 --sweep").err, HasSubstr("--sweep: unknown option."));
}

// Its kernels of lesson 13 are there for the sweep, and for who asks for them.
TEST(Lesson15, runs_its_own_kernels) {
    const std::string out = run_lesson("lesson15", "--n 5000 --verify").out;
    EXPECT_THAT(out, AllOf(HasSubstr("segmented_smem: verified"), Not(HasSubstr("naive_reduction"))));
    EXPECT_THAT(run_lesson("lesson15", "--n 5000 --verify --kernel naive_reduction").out,
                HasSubstr("naive_reduction: verified"));
}

} // namespace first_principles_counters_test

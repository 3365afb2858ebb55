#include <sstream>
#include <utility>

#include "first_principles_counters.hpp"

namespace first_principles_counters {

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
TEST(Lesson15Segments, have_the_counters_that_follow_from_their_access_pattern) {
    const std::uint64_t n = mega, blocks = n / 512;
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
TEST(Lesson15Segments, are_trees_of_one_block_also_where_the_input_ends) {
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
TEST(Lesson15Coarsening, takes_blocks_away_and_no_loads) {
    const std::uint64_t n = mega;
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

TEST(Lesson15Coarsening, is_a_power_of_two_up_to_16) {
    for (const char* wrong : {"0", "3", "5", "32", "1000000"}) {
        const ProgramResult result = run_program(std::string("./lesson15 --coarsening ") + wrong);
        EXPECT_EQ(result.status, 2);
        EXPECT_EQ(result.out, "");
        EXPECT_THAT(result.err, HasSubstr(std::string("lesson15: --coarsening ") + wrong +
                                          ": no kernel is compiled for it. Write 1, 2, 4, 8 or 16.\n"));
    }
}

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

TEST(Lesson15SweepOnEmulator, writes_a_row_for_each_size_and_kernel) {
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

TEST(Lesson15Sweep, needs_a_size_to_begin_with_and_gives_no_report) {
    for (const auto& [arguments, message] :
         {std::pair{"--n 1023", "lesson15: --n 1023: --sweep begins with 1,024 ints"},
          std::pair{"--verify", "lesson15: --sweep measures, and --verify does not"},
          {"--changed", "lesson15: --sweep writes a CSV, and prints no report: leave --changed out."},
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

// A run does not leave what the next one needs: results must be zeroed again, and inputs restored.
TEST(Lesson15, prepares_every_run_anew) {
    const ProgramResult result = run_lesson("lesson15", "--n 2000 --repeat 3 --verify");
    EXPECT_EQ(result.status, 0) << result.err;
}

} // namespace first_principles_counters

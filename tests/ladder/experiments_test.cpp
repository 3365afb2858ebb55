// The kernels of lessons/*/course/experiment.cuh: each changes one thing, and does nothing wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "test_device.hpp"

using nlohmann::json;

namespace {

/// All of them, once, on the emulator with every checker. The program itself checks the sums.
class ExperimentsOnEmulator : public testing::Test {
protected:
    static void SetUpTestSuite() {
        // 20 blocks of 256 ints, and the last one has a tail.
        const ProgramResult result =
            run_program("./emulate --check=all --counters --format json ./experiments once 5003");
        ASSERT_EQ(result.status, 0) << result.err;
        report = json::parse(result.err);
        std::istringstream lines(result.out);
        std::string line;
        std::getline(lines, line);
        ASSERT_THAT(line, testing::StartsWith("lesson,experiment,kernel,function,block,grid,"));
        // Launch 0 makes the ints.
        for (std::size_t launch = 1; std::getline(lines, line); ++launch) {
            std::istringstream fields(line);
            std::string lesson, experiment, kernel, function, block;
            for (std::string* field : {&lesson, &experiment, &kernel, &function, &block})
                std::getline(fields, *field, ',');
            ASSERT_LT(launch, report.at("launches").size());
            const std::string name = report["launches"][launch]["kernel"];
            EXPECT_EQ(name.substr(0, name.find('<')), function);
            launches[experiment + " " + kernel + " " + block] = launch;
        }
        EXPECT_EQ(report["launches"].size(), launches.size() + 1) << "two rows of one name";
    }

    static std::uint64_t count(const std::string& row, const std::string& counter) {
        return report["launches"][launches.at(row + " 256")]["counters"].at(counter + ".sum");
    }
    static std::uint64_t instructions(const std::string& row) { return count(row, "smsp__inst_executed"); }
    static std::uint64_t divergent(const std::string& row) {
        return count(row, "smsp__sass_branch_targets_threads_divergent");
    }
    static std::uint64_t barriers(const std::string& row) {
        return count(row, "ptx__thread_inst_executed_op_bar");
    }
    static std::uint64_t loads_and_stores(const std::string& row, const std::string& what) {
        return count(row, "l1tex__data_" + what + "_pipe_lsu_mem_shared_op_ld") +
               count(row, "l1tex__data_" + what + "_pipe_lsu_mem_shared_op_st");
    }
    static std::uint64_t wavefronts(const std::string& row) {
        return count(row, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld") +
               count(row, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st");
    }
    static std::uint64_t conflicts(const std::string& row) { return loads_and_stores(row, "bank_conflicts"); }

    static inline json report;
    static inline std::map<std::string, std::size_t> launches;
};

constexpr std::uint64_t blocks = 20, halves = 10; // of 256 and 512 ints: n is 5,003

TEST_F(ExperimentsOnEmulator, no_checker_finds_anything) {
    EXPECT_EQ(report.at("findings"), json::array());
    EXPECT_EQ(report.at("errors"), json::array());
}

// Without a remainder and with one: a warp that splits executes what a warp does whose lanes agree. Both kernels
// split once more per block, for `tid == 0`; and one warp for the tail.
TEST_F(ExperimentsOnEmulator, lanes_that_agree_execute_the_same_instructions) {
    for (const std::string choice : {"divergence remainder", "divergence mask"}) {
        EXPECT_EQ(instructions(choice + "_lanes_agree"), instructions(choice + "_lanes_differ"));
        EXPECT_EQ(wavefronts(choice + "_lanes_agree"), wavefronts(choice + "_lanes_differ"));
        EXPECT_EQ(divergent(choice + "_lanes_agree"), blocks + 1);
        EXPECT_EQ(divergent(choice + "_lanes_differ"), (47 + 1) * blocks + 1); // lesson 00 derives the 47
    }
    EXPECT_EQ(wavefronts("divergence mask_lanes_agree"), wavefronts("divergence remainder_lanes_agree"));
}

// Lessons 01 and 02 derive the wavefronts: 95 loads and 55 stores, 25 and 20 without conflicts.
TEST_F(ExperimentsOnEmulator, the_order_changes_the_conflicts_alone) {
    const std::string one = "conflicts either_order_reduce1", two = "conflicts either_order_reduce2";
    EXPECT_EQ(instructions(one), instructions(two));
    EXPECT_EQ(barriers(one), barriers(two));
    for (const std::string& row : {one, std::string("conflicts reduce1_doubled")}) {
        EXPECT_EQ(wavefronts(row), (95 + 55) * blocks) << row;
        EXPECT_EQ(conflicts(row), conflicts("conflicts reduce1")) << row;
    }
    EXPECT_EQ(wavefronts(two), (25 + 20) * blocks);
    EXPECT_EQ(conflicts(two), 0U);
    EXPECT_LT(instructions("conflicts reduce1_doubled"), instructions("conflicts reduce1"));
}

TEST_F(ExperimentsOnEmulator, two_tiles_are_two_blocks_of_reduce2) {
    EXPECT_EQ(wavefronts("block_starts reduce2_two_tiles"), wavefronts("block_starts reduce2"));
    EXPECT_EQ(barriers("block_starts reduce2_two_tiles"), barriers("block_starts reduce2"));
    EXPECT_EQ(wavefronts("block_starts empty_as_reduce2"), 0U);
}

// Six steps, 256 threads each.
TEST_F(ExperimentsOnEmulator, the_last_six_steps_differ_by_their_barriers) {
    const std::string prefix = "last_six_steps ";
    for (const char* const accesses : {"barriers", "neither"})
        EXPECT_EQ(wavefronts(prefix + accesses), wavefronts(prefix + "reduce3")) << accesses;
    EXPECT_EQ(barriers(prefix + "barriers_and_idle_accesses"), barriers(prefix + "barriers"));
    EXPECT_EQ(barriers(prefix + "barriers"), barriers(prefix + "reduce3"));
    EXPECT_EQ(barriers(prefix + "barriers") - barriers(prefix + "neither"), 6 * 256 * halves);
    EXPECT_EQ(barriers(prefix + "idle_accesses"), barriers(prefix + "neither"));
    EXPECT_EQ(barriers(prefix + "neither"), barriers(prefix + "reduce4"));
    EXPECT_LT(instructions(prefix + "barriers"), instructions(prefix + "barriers_and_idle_accesses"));
}

TEST_F(ExperimentsOnEmulator, unrolling_keeps_the_accesses_and_the_barriers) {
    EXPECT_EQ(wavefronts("unrolling reduce3_unrolled"), wavefronts("unrolling reduce3"));
    EXPECT_EQ(barriers("unrolling reduce3_unrolled"), barriers("unrolling reduce3"));
    EXPECT_LT(instructions("unrolling reduce3_unrolled"), instructions("unrolling reduce3"));
    for (const char* const row : {"unrolling reduce5_no_tree", "trees reduce6_no_tree"}) {
        EXPECT_EQ(wavefronts(row), 0U) << row;
        EXPECT_EQ(barriers(row), 0U) << row;
    }
}

} // namespace

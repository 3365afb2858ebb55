// The counters of the first pass of lessons 00 to 09, to the digit, as they follow from each kernel's access
// pattern.
#include "ladder_counters.hpp"

#include <gmock/gmock.h>

#include <iterator>
#include <string>

void expect_divergence(std::initializer_list<Splits> cases) {
    for (const auto& [lesson, kernel, expected] : cases) {
        const Launch launch(lesson, kernel, arguments(1 << 20, 256));
        EXPECT_EQ(launch.counter("smsp__sass_branch_targets_threads_divergent"), expected)
            << lesson << " " << kernel;
    }
}

void expect_success(const std::string& program, std::initializer_list<const char*> arguments) {
    for (const char* const its_arguments : arguments) {
        const ProgramResult result = run_program(program + " " + its_arguments);
        EXPECT_EQ(result.status, 0) << its_arguments << '\n' << result.out << result.err;
    }
}

void expect_clean_between_blocks(const std::string& lesson, std::initializer_list<const char*> arguments) {
    const std::string program = "./emulate --check all --global-races ./" + lesson + " --verify --repeat 2 ";
    for (const char* const its_arguments : arguments) {
        const ProgramResult result = run_program(program + its_arguments);
        EXPECT_EQ(result.status, 0) << result.out << result.err;
        EXPECT_THAT(result.err, testing::HasSubstr("no findings (mem, init, race, sync)")) << its_arguments;
    }
}

namespace ladder_counters {

void expect_counters(std::initializer_list<Case> cases) {
    for (const Case& expected : cases) {
        const std::string its_arguments = arguments(expected.n, expected.block, expected.offset);
        SCOPED_TRACE(expected.kernel + its_arguments);
        const Launch launch(expected.lesson, expected.kernel, its_arguments);
        const std::uint64_t blocks = expected.blocks;
        EXPECT_EQ(launch.blocks(), blocks);
        EXPECT_EQ(launch.sectors("ld"), expected.sectors);
        EXPECT_EQ(launch.requests("ld"), expected.requests);
        EXPECT_EQ(launch.sectors("st"), blocks);
        EXPECT_EQ(launch.requests("st"), blocks);
        EXPECT_EQ(launch.sectors("atom"), 0u);
        EXPECT_EQ(launch.sectors("red"), 0u);
        EXPECT_EQ(launch.wavefronts("ld"), blocks * expected.shared.load_wavefronts);
        EXPECT_EQ(launch.wavefronts("st"), blocks * expected.shared.store_wavefronts);
        EXPECT_EQ(launch.conflicts("ld"), blocks * expected.shared.load_conflicts);
        EXPECT_EQ(launch.conflicts("st"), blocks * expected.shared.store_conflicts);
    }
}

// No exact numbers: another nvcc writes other PTX. (reduce0a takes one PTX instruction more than reduce0 in
// each step, although the machine takes fewer: see lesson 00.)
TEST(Instructions, fall_where_a_lesson_says_so) {
    const auto instructions = [](const char* lesson, const char* kernel) {
        return Launch(lesson, kernel, arguments(mega, 256)).counter("smsp__inst_executed");
    };
    const std::uint64_t counts[] = {instructions("lesson00", "reduce0"), instructions("lesson01", "reduce1"),
                                    instructions("lesson02", "reduce2"), instructions("lesson03", "reduce3"),
                                    instructions("lesson04", "reduce4"), instructions("lesson05", "reduce5"),
                                    instructions("lesson06", "reduce6")};
    for (std::size_t i = 1; i < std::size(counts); ++i) EXPECT_LT(counts[i], counts[i - 1]) << i;
    EXPECT_LT(instructions("lesson08", "reduce8"), instructions("lesson07", "reduce7"));
}

} // namespace ladder_counters

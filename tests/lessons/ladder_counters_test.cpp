// The counters of the first pass of lessons 00 to 09, to the digit, as they follow from each kernel's access
// pattern.
#include "ladder_counters.hpp"

#include <iterator>

namespace ladder_counters {

TEST_P(FirstPass, has_the_counters_that_follow_from_its_access_pattern) {
    const Case& expected = GetParam();
    const Launch launch(expected.lesson, expected.kernel,
                        arguments(expected.n, expected.block, expected.offset));
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

TEST_P(Divergence, follows_from_the_conditions) {
    const auto& [lesson, kernel, expected] = GetParam();
    EXPECT_EQ(
        Launch(lesson, kernel, arguments(mega, 256)).counter("smsp__sass_branch_targets_threads_divergent"),
        expected)
        << kernel;
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

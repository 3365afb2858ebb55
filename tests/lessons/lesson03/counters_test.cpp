#include "ladder_counters.hpp"

namespace ladder_counters {

TEST(Lesson03FirstPass, has_the_counters_that_follow_from_its_access_pattern) {
    expect_counters({
        {"lesson03", "reduce2", mega, 256, 4096, 131'072, 32'768, sequential_256},
        {"lesson03", "reduce3", mega, 256, 2048, 131'072, 32'768, sequential_256},
        {"lesson03", "reduce3", 900, 128, 4, 113, 29, sequential_128},
        {"lesson03", "reduce3", 65, 32, 2, 9, 3, sequential_32},
    });
}

TEST(Lesson03Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson03", "reduce3", 6 * 2048},
    });
}

} // namespace ladder_counters

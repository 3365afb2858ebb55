#include "ladder_counters.hpp"

namespace ladder_counters {

TEST(Lesson02FirstPass, has_the_counters_that_follow_from_its_access_pattern) {
    expect_counters({
        {"lesson02", "reduce1", mega, 256, 4096, 131'072, 32'768, strided_256},
        {"lesson02", "reduce2", mega, 256, 4096, 131'072, 32'768, sequential_256},
        {"lesson02", "reduce2", 900, 128, 8, 113, 29, sequential_128},
        {"lesson02", "reduce2", 65, 32, 3, 9, 3, sequential_32},
    });
}

TEST(Lesson02Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson02", "reduce2", 6 * 4096},
    });
}

} // namespace ladder_counters

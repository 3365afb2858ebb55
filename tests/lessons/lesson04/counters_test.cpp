#include "ladder_counters.hpp"

namespace ladder_counters {

TEST(Lesson04FirstPass, has_the_counters_that_follow_from_its_access_pattern) {
    expect_counters({
        {"lesson04", "reduce3", mega, 256, 2048, 131'072, 32'768, sequential_256},
        {"lesson04", "reduce4", mega, 256, 2048, 131'072, 32'768, last_warp_256},
        {"lesson04", "reduce4", 900, 128, 4, 113, 29, last_warp_128},
        {"lesson04", "reduce4", 65, 32, 2, 9, 3, last_warp_32},
    });
}

TEST(Lesson04Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson04", "reduce4", 2048},
    });
}

} // namespace ladder_counters

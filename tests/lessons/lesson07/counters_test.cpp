#include "ladder_counters.hpp"

namespace ladder_counters {

TEST(Lesson07FirstPass, has_the_counters_that_follow_from_its_access_pattern) {
    expect_counters({
        {"lesson07", "reduce6", mega, 256, 1056, 131'072, 32'768, last_warp_256},
        {"lesson07", "reduce7", mega, 256, 1056, 131'072, 32'768, shuffles_256},
        {"lesson07", "reduce7", 900, 128, 4, 113, 29, shuffles_128},
        {"lesson07", "reduce7", 65, 32, 2, 9, 3, shuffles_32},
    });
}

TEST(Lesson07Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson07", "reduce7", 10 * 1056},
    });
}

} // namespace ladder_counters

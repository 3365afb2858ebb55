#include "ladder_counters.hpp"

namespace ladder_counters {

TEST(Lesson00FirstPass, has_the_counters_that_follow_from_its_access_pattern) {
    expect_counters({
        {"lesson00", "reduce0", mega, 256, 4096, 131'072, 32'768, interleaved_256},
        {"lesson00", "reduce0a", mega, 256, 4096, 131'072, 32'768, interleaved_256},
        {"lesson00", "reduce0", 900, 128, 8, 113, 29, interleaved_128},
        {"lesson00", "reduce0a", 900, 128, 8, 113, 29, interleaved_128},
        {"lesson00", "reduce0", 65, 32, 3, 9, 3, interleaved_32},
    });
}

TEST(Lesson00Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson00", "reduce0", 48 * 4096},
        {"lesson00", "reduce0a", 48 * 4096},
    });
}

} // namespace ladder_counters

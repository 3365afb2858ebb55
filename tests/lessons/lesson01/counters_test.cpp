#include "ladder_counters.hpp"

namespace ladder_counters {

TEST(Lesson01FirstPass, has_the_counters_that_follow_from_its_access_pattern) {
    expect_counters({
        {"lesson01", "reduce0a", mega, 256, 4096, 131'072, 32'768, interleaved_256},
        {"lesson01", "reduce1", mega, 256, 4096, 131'072, 32'768, strided_256},
        {"lesson01", "reduce1", 900, 128, 8, 113, 29, strided_128},
        {"lesson01", "reduce1", 65, 32, 3, 9, 3, strided_32},
    });
}

TEST(Lesson01Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson01", "reduce1", 6 * 4096},
    });
}

} // namespace ladder_counters

#include <utility>

#include "ladder_counters.hpp"

namespace ladder_counters {

TEST(Lesson06FirstPass, has_the_counters_that_follow_from_its_access_pattern) {
    expect_counters({
        {"lesson06", "reduce5", mega, 256, 2048, 131'072, 32'768, last_warp_256},
        {"lesson06", "reduce6", mega, 256, 1056, 131'072, 32'768, last_warp_256},
        {"lesson06", "reduce6", 900, 128, 4, 113, 29, last_warp_128},
        {"lesson06", "reduce6", 65, 32, 2, 9, 3, last_warp_32},
    });
}

TEST(Lesson06Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson06", "reduce6", 1056},
    });
}

// A grid with fewer blocks loads the same, and everything that each block adds to it falls: with at least E
// ints a thread, ceil(2^20 / 256 E) blocks.
TEST(Lesson06ElementsPerThread, take_blocks_away_and_no_loads) {
    for (const auto& [elements, blocks] : {std::pair{4, 1024}, {16, 256}, {1024, 4}, {1 << 30, 1}}) {
        const Launch launch("lesson06", "reduce6",
                            arguments(mega, 256) + " --elements-per-thread " + std::to_string(elements));
        EXPECT_EQ(launch.blocks(), std::uint64_t(blocks));
        EXPECT_EQ(launch.sectors("ld"), 131'072u);
        EXPECT_EQ(launch.requests("ld"), 32'768u);
        EXPECT_EQ(launch.sectors("st"), std::uint64_t(blocks));
        EXPECT_EQ(launch.wavefronts("ld"), std::uint64_t(blocks) * last_warp_256.load_wavefronts);
        EXPECT_EQ(launch.wavefronts("st"), std::uint64_t(blocks) * last_warp_256.store_wavefronts);
    }
}

} // namespace ladder_counters

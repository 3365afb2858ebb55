#include "layout_counters.hpp"

namespace layout_counters {

TEST(Lesson16TileOnEmulator, has_the_wavefronts_that_follow_from_its_words) {
    expect_wavefronts({
        // As published.
        {"lesson16", "setRowReadRow", "", 32, 32, 32},
        {"lesson16", "setColReadCol", "", 32, 1024, 1024},
        {"lesson16", "setRowReadCol", "", 32, 1024, 32},
        // Other tiles and paddings.
        {"lesson16", "setRowReadCol", " --width 16", 8, 64, 8},
        {"lesson16", "setColReadCol", " --height 31", 31, 31, 31},
    });
}

} // namespace layout_counters

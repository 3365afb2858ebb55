#include "layout_counters.hpp"

namespace layout_counters {

TEST(Lesson19TileOnEmulator, has_the_wavefronts_that_follow_from_its_words) {
    expect_wavefronts({
        // As published.
        {"lesson19", "setRowReadRow", "", 16, 16, 16},
        {"lesson19", "setColReadCol", "", 16, 256, 256},
        {"lesson19", "setRowReadCol", "", 16, 256, 16},
        // Other tiles and paddings.
        {"lesson19", "setRowReadCol", " --width 16 --height 32", 16, 256, 16},
        {"lesson19", "setRowReadCol", " --width 1024 --height 1", 32, 32, 32},
        {"lesson19", "setColReadCol", " --width 1 --height 1024", 32, 32, 32},
    });
}

} // namespace layout_counters

#include "layout_counters.hpp"

namespace layout_counters {

TEST(Lesson21TileOnEmulator, has_the_wavefronts_that_follow_from_its_words) {
    expect_wavefronts({
        // As published.
        {"lesson21", "setRowReadCol", "", 16, 256, 16},
        {"lesson21", "setRowReadColPad", " --padding 1", 16, 32, 16},
        {"lesson21", "setRowReadColPad", "", 16, 16, 16},
        {"lesson21", "setRowReadColDynPad", "", 16, 16, 16},
        // Other tiles and paddings.
        {"lesson21", "setRowReadColDynPad", " --width 16 --height 32 --padding 1", 16, 16, 32},
        {"lesson21", "setRowReadColDynPad", " --width 1 --height 1024 --padding 33", 32, 64, 64},
    });
}

} // namespace layout_counters

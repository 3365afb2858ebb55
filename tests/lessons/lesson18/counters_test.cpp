#include "layout_counters.hpp"

namespace layout_counters {

TEST(Lesson18TileOnEmulator, has_the_wavefronts_that_follow_from_its_words) {
    expect_wavefronts({
        // As published.
        {"lesson18", "setRowReadCol", "", 32, 1024, 32},
        {"lesson18", "setRowReadColPad", "", 32, 32, 32},
        {"lesson18", "setRowReadColDynPad", "", 32, 32, 32},
        // Other tiles and paddings.
        {"lesson18", "setRowReadColPad", " --padding 2", 32, 64, 32},
        {"lesson18", "setRowReadColPad", " --padding 0", 32, 1024, 32},
        {"lesson18", "setRowReadColPad", " --padding 33", 32, 32, 32},
        {"lesson18", "setRowReadColPad", " --width 16 --padding 2", 8, 8, 16},
    });
}

} // namespace layout_counters

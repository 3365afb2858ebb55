#include "layout_counters.hpp"

namespace layout_counters {

INSTANTIATE_TEST_SUITE_P(
    lesson21, TileOnEmulator,
    testing::Values(
        // As published.
        Case{"lesson21", "setRowReadCol", "", 16, 256, 16},
        Case{"lesson21", "setRowReadColPad", " --padding 1", 16, 32, 16},
        Case{"lesson21", "setRowReadColPad", "", 16, 16, 16},
        Case{"lesson21", "setRowReadColDynPad", "", 16, 16, 16},
        // Other tiles and paddings.
        Case{"lesson21", "setRowReadColDynPad", " --width 16 --height 32 --padding 1", 16, 16, 32},
        Case{"lesson21", "setRowReadColDynPad", " --width 1 --height 1024 --padding 33", 32, 64, 64}),
    case_name);

} // namespace layout_counters

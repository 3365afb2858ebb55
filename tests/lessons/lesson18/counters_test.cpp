#include "layout_counters.hpp"

namespace layout_counters {

INSTANTIATE_TEST_SUITE_P(lesson18, TileOnEmulator,
                         testing::Values(
                             // As published.
                             Case{"lesson18", "setRowReadCol", "", 32, 1024, 32},
                             Case{"lesson18", "setRowReadColPad", "", 32, 32, 32},
                             Case{"lesson18", "setRowReadColDynPad", "", 32, 32, 32},
                             // Other tiles and paddings.
                             Case{"lesson18", "setRowReadColPad", " --padding 2", 32, 64, 32},
                             Case{"lesson18", "setRowReadColPad", " --padding 0", 32, 1024, 32},
                             Case{"lesson18", "setRowReadColPad", " --padding 33", 32, 32, 32},
                             Case{"lesson18", "setRowReadColPad", " --width 16 --padding 2", 8, 8, 16}),
                         case_name);

} // namespace layout_counters

#include "layout_counters.hpp"

namespace layout_counters {

INSTANTIATE_TEST_SUITE_P(lesson19, TileOnEmulator,
                         testing::Values(
                             // As published.
                             Case{"lesson19", "setRowReadRow", "", 16, 16, 16},
                             Case{"lesson19", "setColReadCol", "", 16, 256, 256},
                             Case{"lesson19", "setRowReadCol", "", 16, 256, 16},
                             // Other tiles and paddings.
                             Case{"lesson19", "setRowReadCol", " --width 16 --height 32", 16, 256, 16},
                             Case{"lesson19", "setRowReadCol", " --width 1024 --height 1", 32, 32, 32},
                             Case{"lesson19", "setColReadCol", " --width 1 --height 1024", 32, 32, 32}),
                         case_name);

} // namespace layout_counters

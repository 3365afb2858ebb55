#include "layout_counters.hpp"

namespace layout_counters {

INSTANTIATE_TEST_SUITE_P(lesson16, TileOnEmulator,
                         testing::Values(
                             // As published.
                             Case{"lesson16", "setRowReadRow", "", 32, 32, 32},
                             Case{"lesson16", "setColReadCol", "", 32, 1024, 1024},
                             Case{"lesson16", "setRowReadCol", "", 32, 1024, 32},
                             // Other tiles and paddings.
                             Case{"lesson16", "setRowReadCol", " --width 16", 8, 64, 8},
                             Case{"lesson16", "setColReadCol", " --height 31", 31, 31, 31}),
                         case_name);

} // namespace layout_counters

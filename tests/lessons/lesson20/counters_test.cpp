#include "layout_counters.hpp"

namespace layout_counters {

INSTANTIATE_TEST_SUITE_P(lesson20, TileOnEmulator,
                         testing::Values(
                             // As published.
                             Case{"lesson20", "setRowReadCol", "", 16, 256, 16},
                             Case{"lesson20", "setRowReadColDyn", "", 16, 256, 16}),
                         case_name);

} // namespace layout_counters

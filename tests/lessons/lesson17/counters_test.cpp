#include "layout_counters.hpp"

namespace layout_counters {

INSTANTIATE_TEST_SUITE_P(lesson17, TileOnEmulator,
                         testing::Values(
                             // As published.
                             Case{"lesson17", "setRowReadCol", "", 32, 1024, 32},
                             Case{"lesson17", "setRowReadColDyn", "", 32, 1024, 32}),
                         case_name);

} // namespace layout_counters

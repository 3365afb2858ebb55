#include "ladder_counters.hpp"

namespace ladder_counters {

INSTANTIATE_TEST_SUITE_P(
    lesson05, FirstPass,
    testing::Values(Case{"lesson05", "reduce4", mega, 256, 2048, 131'072, 32'768, last_warp_256},
                    Case{"lesson05", "reduce5", mega, 256, 2048, 131'072, 32'768, last_warp_256},
                    Case{"lesson05", "reduce5", 900, 128, 4, 113, 29, last_warp_128},
                    Case{"lesson05", "reduce5", 65, 32, 2, 9, 3, last_warp_32}),
    case_name);
INSTANTIATE_TEST_SUITE_P(lesson05, Divergence, testing::Values(Splits{"lesson05", "reduce5", 2048}),
                         kernel_name);

} // namespace ladder_counters

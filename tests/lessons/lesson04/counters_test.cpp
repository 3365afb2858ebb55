#include "ladder_counters.hpp"

namespace ladder_counters {

INSTANTIATE_TEST_SUITE_P(
    lesson04, FirstPass,
    testing::Values(Case{"lesson04", "reduce3", mega, 256, 2048, 131'072, 32'768, sequential_256},
                    Case{"lesson04", "reduce4", mega, 256, 2048, 131'072, 32'768, last_warp_256},
                    Case{"lesson04", "reduce4", 900, 128, 4, 113, 29, last_warp_128},
                    Case{"lesson04", "reduce4", 65, 32, 2, 9, 3, last_warp_32}),
    case_name);
INSTANTIATE_TEST_SUITE_P(lesson04, Divergence, testing::Values(Splits{"lesson04", "reduce4", 2048}),
                         kernel_name);

} // namespace ladder_counters

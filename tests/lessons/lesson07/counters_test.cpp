#include "ladder_counters.hpp"

namespace ladder_counters {

INSTANTIATE_TEST_SUITE_P(
    lesson07, FirstPass,
    testing::Values(Case{"lesson07", "reduce6", mega, 256, 1056, 131'072, 32'768, last_warp_256},
                    Case{"lesson07", "reduce7", mega, 256, 1056, 131'072, 32'768, shuffles_256},
                    Case{"lesson07", "reduce7", 900, 128, 4, 113, 29, shuffles_128},
                    Case{"lesson07", "reduce7", 65, 32, 2, 9, 3, shuffles_32}),
    case_name);
INSTANTIATE_TEST_SUITE_P(lesson07, Divergence, testing::Values(Splits{"lesson07", "reduce7", 10 * 1056}),
                         kernel_name);

} // namespace ladder_counters

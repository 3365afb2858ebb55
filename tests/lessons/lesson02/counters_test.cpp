#include "ladder_counters.hpp"

namespace ladder_counters {

INSTANTIATE_TEST_SUITE_P(
    lesson02, FirstPass,
    testing::Values(Case{"lesson02", "reduce1", mega, 256, 4096, 131'072, 32'768, strided_256},
                    Case{"lesson02", "reduce2", mega, 256, 4096, 131'072, 32'768, sequential_256},
                    Case{"lesson02", "reduce2", 900, 128, 8, 113, 29, sequential_128},
                    Case{"lesson02", "reduce2", 65, 32, 3, 9, 3, sequential_32}),
    case_name);
INSTANTIATE_TEST_SUITE_P(lesson02, Divergence, testing::Values(Splits{"lesson02", "reduce2", 6 * 4096}),
                         kernel_name);

} // namespace ladder_counters

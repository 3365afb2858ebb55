#include "ladder_counters.hpp"

namespace ladder_counters {

INSTANTIATE_TEST_SUITE_P(
    lesson03, FirstPass,
    testing::Values(Case{"lesson03", "reduce2", mega, 256, 4096, 131'072, 32'768, sequential_256},
                    Case{"lesson03", "reduce3", mega, 256, 2048, 131'072, 32'768, sequential_256},
                    Case{"lesson03", "reduce3", 900, 128, 4, 113, 29, sequential_128},
                    Case{"lesson03", "reduce3", 65, 32, 2, 9, 3, sequential_32}),
    case_name);
INSTANTIATE_TEST_SUITE_P(lesson03, Divergence, testing::Values(Splits{"lesson03", "reduce3", 6 * 2048}),
                         kernel_name);

} // namespace ladder_counters

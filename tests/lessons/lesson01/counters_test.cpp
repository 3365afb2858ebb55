#include "ladder_counters.hpp"

namespace ladder_counters {

INSTANTIATE_TEST_SUITE_P(
    lesson01, FirstPass,
    testing::Values(Case{"lesson01", "reduce0a", mega, 256, 4096, 131'072, 32'768, interleaved_256},
                    Case{"lesson01", "reduce1", mega, 256, 4096, 131'072, 32'768, strided_256},
                    Case{"lesson01", "reduce1", 900, 128, 8, 113, 29, strided_128},
                    Case{"lesson01", "reduce1", 65, 32, 3, 9, 3, strided_32}),
    case_name);
INSTANTIATE_TEST_SUITE_P(lesson01, Divergence, testing::Values(Splits{"lesson01", "reduce1", 6 * 4096}),
                         kernel_name);

} // namespace ladder_counters

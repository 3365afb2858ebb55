#include "ladder_counters.hpp"

namespace ladder_counters {

INSTANTIATE_TEST_SUITE_P(
    lesson00, FirstPass,
    testing::Values(Case{"lesson00", "reduce0", mega, 256, 4096, 131'072, 32'768, interleaved_256},
                    Case{"lesson00", "reduce0a", mega, 256, 4096, 131'072, 32'768, interleaved_256},
                    Case{"lesson00", "reduce0", 900, 128, 8, 113, 29, interleaved_128},
                    Case{"lesson00", "reduce0a", 900, 128, 8, 113, 29, interleaved_128},
                    Case{"lesson00", "reduce0", 65, 32, 3, 9, 3, interleaved_32}),
    case_name);
INSTANTIATE_TEST_SUITE_P(lesson00, Divergence,
                         testing::Values(Splits{"lesson00", "reduce0", 48 * 4096},
                                         Splits{"lesson00", "reduce0a", 48 * 4096}),
                         kernel_name);

} // namespace ladder_counters

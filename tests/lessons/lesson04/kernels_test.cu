#include "../../../lessons/lesson04_unroll_last_warp/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

TEST(Lesson04Reduce4, is_right_for_every_size) { expect_sums_of_every_size({"reduce4", launch<reduce4>, 2}); }

} // namespace ladder_kernels

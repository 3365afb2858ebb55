#include "../../../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

TEST(Lesson02Reduce2, is_right_for_every_size) { expect_sums_of_every_size({"reduce2", launch<reduce2>, 1}); }

} // namespace ladder_kernels

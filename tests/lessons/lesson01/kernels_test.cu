#include "../../../lessons/lesson01_strided_index/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

TEST(Lesson01Reduce1, is_right_for_every_size) { expect_sums_of_every_size({"reduce1", launch<reduce1>, 1}); }

} // namespace ladder_kernels

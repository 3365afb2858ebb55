#include "../../../lessons/lesson03_first_add_on_load/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

TEST(Lesson03Reduce3, is_right_for_every_size) { expect_sums_of_every_size({"reduce3", launch<reduce3>, 2}); }

} // namespace ladder_kernels

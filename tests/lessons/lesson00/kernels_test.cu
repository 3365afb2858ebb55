#include "../../../lessons/lesson00_interleaved_pairs/kernels.cuh"
#include "ladder_kernels.cuh"

namespace ladder_kernels {

TEST(Lesson00Reduce0, is_right_for_every_size) { expect_sums_of_every_size({"reduce0", launch<reduce0>, 1}); }

TEST(Lesson00Reduce0a, is_right_for_every_size) {
    expect_sums_of_every_size({"reduce0a", launch<reduce0a>, 1});
}

} // namespace ladder_kernels

#include "layout_kernels.cuh"

namespace square {
#include "../../../lessons/lesson17_square_tile_dynamic/kernels.cuh"
} // namespace square

namespace layout_kernels {

INSTANTIATE_TEST_SUITE_P(lesson17, UnpaddedSquare,
                         testing::Values(Unpadded{"setRowReadColDyn", transposing_dynamic,
                                                  square::setRowReadColDyn}),
                         kernel_name);

TEST(Lesson17StaticTile, costs_a_kernel_that_is_sized_at_launch_nothing) {
    EXPECT_EQ(static_bytes(square::setRowReadColDyn), 0u);
}

} // namespace layout_kernels

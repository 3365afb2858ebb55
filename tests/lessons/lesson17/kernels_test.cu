#include "layout_kernels.cuh"

namespace square {
#include "../../../lessons/lesson17_square_tile_dynamic/kernels.cuh"
} // namespace square

namespace layout_kernels {

TEST(Lesson17Kernels, are_right_in_every_square) {
    expect_to_be_right_in_every_square(
        Unpadded{"setRowReadColDyn", transposing_dynamic, square::setRowReadColDyn});
}

TEST(Lesson17StaticTile, costs_a_kernel_that_is_sized_at_launch_nothing) {
    EXPECT_EQ(static_bytes(square::setRowReadColDyn), 0u);
}

} // namespace layout_kernels

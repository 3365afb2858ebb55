#include "layout_kernels.cuh"

namespace rectangle {
#include "../../../lessons/lesson21_rectangular_tile_padded/kernels.cuh"
} // namespace rectangle

namespace layout_kernels {

INSTANTIATE_TEST_SUITE_P(lesson21, PaddedRectangle,
                         testing::Values(Padded{"setRowReadColPad", transposing, rectangle::setRowReadColPad},
                                         Padded{"setRowReadColDynPad", transposing_dynamic,
                                                rectangle::setRowReadColDynPad}),
                         kernel_name);

TEST(Lesson21StaticTile, costs_the_kernel_that_names_it) {
    EXPECT_EQ(static_bytes(rectangle::setRowReadColPad), 48 * 1024u);
    EXPECT_EQ(static_bytes(rectangle::setRowReadColDynPad), 0u);
}

} // namespace layout_kernels

#include "layout_kernels.cuh"

namespace rectangle {
#include "../../../lessons/lesson21_rectangular_tile_padded/kernels.cuh"
} // namespace rectangle

namespace layout_kernels {

TEST(Lesson21Kernels, are_right_in_rectangles_of_every_kind_with_every_padding) {
    expect_to_be_right_in_every_rectangle(
        Padded{"setRowReadColPad", transposing, rectangle::setRowReadColPad});
    expect_to_be_right_in_every_rectangle(
        Padded{"setRowReadColDynPad", transposing_dynamic, rectangle::setRowReadColDynPad});
}

TEST(Lesson21StaticTile, costs_the_kernel_that_names_it) {
    EXPECT_EQ(static_bytes(rectangle::setRowReadColPad), 48 * 1024u);
    EXPECT_EQ(static_bytes(rectangle::setRowReadColDynPad), 0u);
}

} // namespace layout_kernels

#include "layout_kernels.cuh"

namespace rectangle {
#include "../../../lessons/lesson19_rectangular_tile/kernels.cuh"
} // namespace rectangle

namespace layout_kernels {

TEST(Lesson19Kernels, are_right_in_rectangles_of_every_kind) {
    expect_to_be_right_in_every_rectangle(Unpadded{"setRowReadRow", by_rows_only, rectangle::setRowReadRow});
    expect_to_be_right_in_every_rectangle(
        Unpadded{"setColReadCol", by_columns_only, rectangle::setColReadCol});
    expect_to_be_right_in_every_rectangle(Unpadded{"setRowReadCol", transposing, rectangle::setRowReadCol});
}

} // namespace layout_kernels

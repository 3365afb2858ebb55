#include "layout_kernels.cuh"

namespace rectangle {
#include "../../../lessons/lesson20_rectangular_tile_dynamic/kernels.cuh"
} // namespace rectangle

namespace layout_kernels {

TEST(Lesson20Kernels, are_right_in_rectangles_of_every_kind) {
    expect_to_be_right_in_every_rectangle(
        Unpadded{"setRowReadColDyn", transposing_dynamic, rectangle::setRowReadColDyn});
}

} // namespace layout_kernels

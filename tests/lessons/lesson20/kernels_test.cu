#include "layout_kernels.cuh"

namespace rectangle {
#include "../../../lessons/lesson20_rectangular_tile_dynamic/kernels.cuh"
} // namespace rectangle

namespace layout_kernels {

INSTANTIATE_TEST_SUITE_P(lesson20, UnpaddedRectangle,
                         testing::Values(Unpadded{"setRowReadColDyn", transposing_dynamic,
                                                  rectangle::setRowReadColDyn}),
                         kernel_name);

} // namespace layout_kernels

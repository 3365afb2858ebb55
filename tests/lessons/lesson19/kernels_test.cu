#include "layout_kernels.cuh"

namespace rectangle {
#include "../../../lessons/lesson19_rectangular_tile/kernels.cuh"
} // namespace rectangle

namespace layout_kernels {

INSTANTIATE_TEST_SUITE_P(lesson19, UnpaddedRectangle,
                         testing::Values(Unpadded{"setRowReadRow", by_rows_only, rectangle::setRowReadRow},
                                         Unpadded{"setColReadCol", by_columns_only, rectangle::setColReadCol},
                                         Unpadded{"setRowReadCol", transposing, rectangle::setRowReadCol}),
                         kernel_name);

} // namespace layout_kernels

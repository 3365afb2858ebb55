#include "layout_kernels.cuh"

namespace square {
#include "../../../lessons/lesson16_square_tile/kernels.cuh"
} // namespace square

namespace layout_kernels {

INSTANTIATE_TEST_SUITE_P(lesson16, UnpaddedSquare,
                         testing::Values(Unpadded{"setRowReadRow", by_rows_only, square::setRowReadRow},
                                         Unpadded{"setColReadCol", by_columns_only, square::setColReadCol},
                                         Unpadded{"setRowReadCol", transposing, square::setRowReadCol}),
                         kernel_name);

TEST(Lesson16StaticTile, costs_the_kernels_that_name_it) {
    // Two kernels share the name of an array at file scope: each has the whole of it, and no other kernel
    // any.
    EXPECT_EQ(static_bytes(square::setRowReadRow), 1024 * sizeof(int));
    EXPECT_EQ(static_bytes(square::setColReadCol), 1024 * sizeof(int));
    EXPECT_EQ(static_bytes(square::setRowReadCol), 1024 * sizeof(int));
}

} // namespace layout_kernels

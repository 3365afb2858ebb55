#include "layout_kernels.cuh"

namespace square {
#include "../../../lessons/lesson16_square_tile/kernels.cuh"
} // namespace square

namespace layout_kernels {

TEST(Lesson16Kernels, are_right_in_every_square) {
    expect_to_be_right_in_every_square(Unpadded{"setRowReadRow", by_rows_only, square::setRowReadRow});
    expect_to_be_right_in_every_square(Unpadded{"setColReadCol", by_columns_only, square::setColReadCol});
    expect_to_be_right_in_every_square(Unpadded{"setRowReadCol", transposing, square::setRowReadCol});
}

TEST(Lesson16StaticTile, costs_the_kernels_that_name_it) {
    // Two kernels share the name of an array at file scope: each has the whole of it, and no other kernel
    // any.
    EXPECT_EQ(static_bytes(square::setRowReadRow), 1024 * sizeof(int));
    EXPECT_EQ(static_bytes(square::setColReadCol), 1024 * sizeof(int));
    EXPECT_EQ(static_bytes(square::setRowReadCol), 1024 * sizeof(int));
}

} // namespace layout_kernels

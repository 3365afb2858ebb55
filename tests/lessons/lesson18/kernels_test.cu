#include "layout_kernels.cuh"

namespace square {
#include "../../../lessons/lesson18_square_tile_padded/kernels.cuh"
} // namespace square

namespace layout_kernels {

INSTANTIATE_TEST_SUITE_P(lesson18, PaddedSquare,
                         testing::Values(Padded{"setRowReadColPad", transposing, square::setRowReadColPad},
                                         Padded{"setRowReadColDynPad", transposing_dynamic,
                                                square::setRowReadColDynPad}),
                         kernel_name);

TEST(Lesson18StaticTile, has_room_for_the_most_padding) {
    EXPECT_EQ(static_bytes(square::setRowReadColPad), 32 * 65 * sizeof(int));
}

} // namespace layout_kernels

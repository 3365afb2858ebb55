#include "layout_kernels.cuh"

namespace square {
#include "../../../lessons/lesson18_square_tile_padded/kernels.cuh"
} // namespace square

namespace layout_kernels {

TEST(Lesson18Kernels, are_right_in_every_square_with_every_padding) {
    expect_to_be_right_in_every_square(Padded{"setRowReadColPad", transposing, square::setRowReadColPad});
    expect_to_be_right_in_every_square(
        Padded{"setRowReadColDynPad", transposing_dynamic, square::setRowReadColDynPad});
}

TEST(Lesson18StaticTile, has_room_for_the_most_padding) {
    EXPECT_EQ(static_bytes(square::setRowReadColPad), 32 * 65 * sizeof(int));
}

} // namespace layout_kernels

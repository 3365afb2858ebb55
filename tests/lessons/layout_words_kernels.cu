// The kernels of lessons 16 to 21 as PTX, for layout_words_test.cpp. Those of squares and those of rectangles
// have the same names.
namespace square {
#include "../../lessons/lesson16_square_tile/kernels.cuh"
#include "../../lessons/lesson17_square_tile_dynamic/kernels.cuh"
#include "../../lessons/lesson18_square_tile_padded/kernels.cuh"
} // namespace square
namespace rectangle {
#include "../../lessons/lesson19_rectangular_tile/kernels.cuh"
#include "../../lessons/lesson20_rectangular_tile_dynamic/kernels.cuh"
#include "../../lessons/lesson21_rectangular_tile_padded/kernels.cuh"
} // namespace rectangle

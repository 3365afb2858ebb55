#pragma once

#include <cstddef>

#include "given.cuh"

/// transposeTiled with other places in the tile: no bank conflicts, and no padding.
__global__ void transposeSwizzled(const int* input, int* output, unsigned int width, unsigned int height) {
    // TODO, about 4 lines: store each int of row r in another place of the same row, so that the ints of a
    // column lie in 32 banks. Where do you find them again? The tile keeps its 32 x 32 ints.
    __shared__ int tile[tile_size][tile_size];
    const unsigned int col = blockIdx.x * tile_size + threadIdx.x;
    const unsigned int row = blockIdx.y * tile_size + threadIdx.y;

    for (unsigned int i = 0; i < tile_size; i += block_rows) {
        if (col < width && row + i < height) {
            tile[threadIdx.y + i][threadIdx.x] = input[std::size_t{row + i} * width + col];
        }
    }
    __syncthreads(); // The tile is complete before a thread loads what another one has stored.

    // The mirrored tile: block x counts its rows. The output has `width` rows of `height` ints.
    const unsigned int out_col = blockIdx.y * tile_size + threadIdx.x;
    const unsigned int out_row = blockIdx.x * tile_size + threadIdx.y;
    for (unsigned int i = 0; i < tile_size; i += block_rows) {
        if (out_col < height && out_row + i < width) {
            output[std::size_t{out_row + i} * height + out_col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}

#pragma once

#include <cstddef>

#include "given.cuh"

/// No unused int: row r holds its column c in place c ^ r, so that a column has a word in every bank.
__global__ void transposeSwizzled(const int* input, int* output, unsigned int width, unsigned int height) {
    __shared__ int tile[tile_size][tile_size];
    const unsigned int col = blockIdx.x * tile_size + threadIdx.x;
    const unsigned int row = blockIdx.y * tile_size + threadIdx.y;

    for (unsigned int i = 0; i < tile_size; i += block_rows) {
        const unsigned int r = threadIdx.y + i, c = threadIdx.x;
        if (col < width && row + i < height) {
            tile[r][c ^ r] = input[std::size_t{row + i} * width + col];
        }
    }
    __syncthreads(); // The tile is complete before a thread loads what another one has stored.

    // The mirrored tile: block x counts its rows. The output has `width` rows of `height` ints.
    const unsigned int out_col = blockIdx.y * tile_size + threadIdx.x;
    const unsigned int out_row = blockIdx.x * tile_size + threadIdx.y;
    for (unsigned int i = 0; i < tile_size; i += block_rows) {
        const unsigned int r = threadIdx.x, c = threadIdx.y + i;
        if (out_col < height && out_row + i < width) {
            output[std::size_t{out_row + i} * height + out_col] = tile[r][c ^ r];
        }
    }
}

// Why rows of an odd length are slow, and what `copy` lacks: kernels that change one thing each.
#pragma once

#include <cstddef>

#include "../given.cuh"

/// copy, and the compiler knows that the two matrices don't overlap.
__global__ void copy_restrict(const int* __restrict__ input, int* __restrict__ output, unsigned int width,
                              unsigned int height) {
    const unsigned int col = blockIdx.x * tile_size + threadIdx.x;
    const unsigned int row = blockIdx.y * tile_size + threadIdx.y;

    for (unsigned int i = 0; i < tile_size; i += block_rows) {
        if (col < width && row + i < height) {
            output[std::size_t{row + i} * width + col] = input[std::size_t{row + i} * width + col];
        }
    }
}

/// copy_restrict, and an eighth of the output stays as it is. 32 divides `width`.
/// \tparam part ints in a row that are left out: 1 of each sector, or 8, a sector of eight
template <unsigned int part>
__global__ void copy_seven_eighths(const int* __restrict__ input, int* __restrict__ output,
                                   unsigned int width, unsigned int height) {
    const unsigned int col = blockIdx.x * tile_size + threadIdx.x;
    const unsigned int row = blockIdx.y * tile_size + threadIdx.y;

    for (unsigned int i = 0; i < tile_size; i += block_rows) {
        if (col < width && row + i < height && col / part % 8 != 7) {
            output[std::size_t{row + i} * width + col] = input[std::size_t{row + i} * width + col];
        }
    }
}

/// transposePadded, and blocks that follow each other store next to each other: blockIdx.x and blockIdx.y
/// have swapped their roles.
__global__ void transposePadded_along_output(const int* input, int* output, unsigned int width,
                                             unsigned int height) {
    __shared__ int tile[tile_size][tile_size + 1];
    const unsigned int col = blockIdx.y * tile_size + threadIdx.x;
    const unsigned int row = blockIdx.x * tile_size + threadIdx.y;

    for (unsigned int i = 0; i < tile_size; i += block_rows) {
        if (col < width && row + i < height) {
            tile[threadIdx.y + i][threadIdx.x] = input[std::size_t{row + i} * width + col];
        }
    }
    __syncthreads(); // The tile is complete before a thread loads what another one has stored.

    const unsigned int out_col = blockIdx.x * tile_size + threadIdx.x;
    const unsigned int out_row = blockIdx.y * tile_size + threadIdx.y;
    for (unsigned int i = 0; i < tile_size; i += block_rows) {
        if (out_col < height && out_row + i < width) {
            output[std::size_t{out_row + i} * height + out_col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}

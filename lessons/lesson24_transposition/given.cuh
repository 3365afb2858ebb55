#pragma once

#include <cstddef>

/// A block of 32 x 8 threads moves a tile of 32 x 32 ints, four per thread. The input has `height` rows of
/// `width` ints.
constexpr unsigned int tile_size = 32, block_rows = 8;

/// The limit: the same bytes in the same tiles, and nothing is transposed.
__global__ void copy(const int* input, int* output, unsigned int width, unsigned int height) {
    const unsigned int col = blockIdx.x * tile_size + threadIdx.x;
    const unsigned int row = blockIdx.y * tile_size + threadIdx.y;

    for (unsigned int i = 0; i < tile_size; i += block_rows) {
        if (col < width && row + i < height) {
            output[std::size_t{row + i} * width + col] = input[std::size_t{row + i} * width + col];
        }
    }
}

/// Loads rows and stores columns. Strided on purpose: up to 32 sectors per stored request.
__global__ void transposeNaive(const int* input, int* output, unsigned int width, unsigned int height) {
    const unsigned int col = blockIdx.x * tile_size + threadIdx.x;
    const unsigned int row = blockIdx.y * tile_size + threadIdx.y;

    for (unsigned int i = 0; i < tile_size; i += block_rows) {
        if (col < width && row + i < height) {
            output[std::size_t{col} * height + row + i] = input[std::size_t{row + i} * width + col];
        }
    }
}

/// Loads rows and stores rows: the tile turns in shared memory. Its columns are in one bank on purpose.
__global__ void transposeTiled(const int* input, int* output, unsigned int width, unsigned int height) {
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

/// One unused int after each row of the tile: a column has a word in every bank.
__global__ void transposePadded(const int* input, int* output, unsigned int width, unsigned int height) {
    __shared__ int tile[tile_size][tile_size + 1];
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

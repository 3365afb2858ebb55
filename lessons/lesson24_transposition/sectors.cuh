#pragma once

#include <cstddef>
#include <cstdint>

/// A block of 64 x 8 threads moves 64 ints of each of 64 rows of the output. blockIdx.x counts along these
/// rows.
constexpr unsigned int wide_tile = 64, wide_rows = 8, wide_block = wide_tile * wide_rows;
constexpr unsigned int sector = 32 / sizeof(int);

/// How many ints past a sector's boundary a row of the output begins. 32 bits are enough: 8 divides 2^32.
__host__ __device__ inline unsigned int ints_past_sector(const int* output, unsigned int row,
                                                         unsigned int height) {
    const auto first = static_cast<unsigned int>(reinterpret_cast<std::uintptr_t>(output) / sizeof(int));
    return (first + row * height) % sector;
}

/// The grid. Tiles begin at the boundary before each row: past its start, where rows begin within sectors.
inline dim3 sector_tiles(const int* output, unsigned int width, unsigned int height) {
    const unsigned int most_past = height % sector == 0 ? ints_past_sector(output, 0, height) : sector - 1;
    return {(height + most_past + wide_tile - 1) / wide_tile, (width + wide_tile - 1) / wide_tile};
}

/// No two blocks store to one sector, wherever the rows of the output begin: each block takes its 64 ints of
/// a row from a sector's boundary on. So its columns of the input begin in up to eight different rows. Four
/// blocks fill a multiprocessor, if a thread has at most 32 registers.
__global__ void __launch_bounds__(wide_block, 4)
    transposeSectors(const int* input, int* output, unsigned int width, unsigned int height) {
    constexpr unsigned int loads = (wide_tile + sector - 1 + wide_rows - 1) / wide_rows;
    __shared__ int tile[loads * wide_rows][wide_tile + 1];

    const unsigned int col = blockIdx.y * wide_tile + threadIdx.x;
    // Of the tile's 64 + 7 rows, a column leaves the first ones to another block: none if it is 7 ints past.
    const unsigned int skipped = sector - 1 - ints_past_sector(output, col, height);
    int loaded[loads]; // All are loaded before the first is stored: many loads are in flight.
#pragma unroll
    for (unsigned int k = 0; k < loads; ++k) {
        const unsigned int i = threadIdx.y + k * wide_rows;
        // Rows above the matrix wrap around. So they are not below `height` either.
        const unsigned int row = blockIdx.x * wide_tile + i - (sector - 1);
        const bool is_ours = i - skipped < wide_tile && row < height && col < width;
        loaded[k] = is_ours ? input[std::size_t{row} * width + col] : 0;
    }
#pragma unroll
    for (unsigned int k = 0; k < loads; ++k) {
        tile[threadIdx.y + k * wide_rows][threadIdx.x] = loaded[k];
    }
    __syncthreads(); // The tile is complete before a thread loads what another one has stored.

#pragma unroll
    for (unsigned int k = 0; k < wide_tile / wide_rows; ++k) {
        const unsigned int i = threadIdx.y + k * wide_rows;
        const unsigned int out_row = blockIdx.y * wide_tile + i;
        const unsigned int past = ints_past_sector(output, out_row, height);
        const unsigned int out_col = blockIdx.x * wide_tile + threadIdx.x - past;
        const int value = tile[threadIdx.x + sector - 1 - past][i];
        if (out_col < height && out_row < width) {
            output[std::size_t{out_row} * height + out_col] = value;
        }
    }
}

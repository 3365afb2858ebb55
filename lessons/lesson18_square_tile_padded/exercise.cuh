#pragma once

/// setRowReadCol with `padding` unused ints after each row of the tile: 33 at most. One square block.
__global__ void setRowReadColPad(int* out, unsigned int padding) {
    // TODO, about 4 lines: put `padding` unused ints after each row of the tile, any number from 0 to 33.
    // The tile has to have room for them, and `out` must not have any.
    __shared__ int tile[32 * 32]; // as large as the largest block
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    tile[row * width + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * width + row];
}

/// The same with a tile that is sized at launch: width + padding ints for each row.
__global__ void setRowReadColDynPad(int* out, unsigned int padding) {
    extern __shared__ int tile[]; // sized by the launch
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    // TODO, about 3 lines: the same here. The launch has already asked for the words that the padding takes.
    tile[row * width + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * width + row];
}

#pragma once

// The kernel of lesson 18, which joins when --padding is given.

/// setRowReadCol with `padding` unused ints after each row of the tile: 33 at most. One square block.
__global__ void setRowReadColPad(int* out, unsigned int padding) {
    __shared__ int tile[32 * (32 + 33)]; // as large as the largest block, with the most padding
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int pitch = width + padding; // from one row of the tile to the next
    const unsigned int idx = row * width + col; // `out` has no padding

    tile[row * pitch + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * pitch + row];
}

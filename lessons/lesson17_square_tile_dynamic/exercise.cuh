#pragma once

/// setRowReadCol with a tile that is sized at launch: one int per thread. One square block.
/// Each row of the tile is rotated by its number, so that a column lies on a diagonal.
__global__ void setRowReadColDyn(int* out) {
    extern __shared__ int tile[]; // sized by the launch
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    // TODO, about 2 lines: rotate each row of the tile by its number, so that a column lies on a diagonal. What
    // leaves the row on the right comes in again on the left.
    tile[row * width + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * width + row];
}

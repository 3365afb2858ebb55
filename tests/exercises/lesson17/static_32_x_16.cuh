// expect: right: wrong result: expected
#pragma once

/// setRowReadCol with a tile that is sized at launch: one int a thread. One square block.
__global__ void setRowReadColDyn(int* out) {
    __shared__ int tile[32][16];
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    tile[row][col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col][row];
}

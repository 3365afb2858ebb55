#pragma once

/// setRowReadCol with a tile that is sized at launch: one int per thread. One square block.
__global__ void setRowReadColDyn(int* out) {
    extern __shared__ int tile[]; // sized by the launch
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    tile[row * width + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * width + row];
}

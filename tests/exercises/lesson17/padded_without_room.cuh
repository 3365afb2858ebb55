// expect: right: mem: out of bounds at {}padded_without_room.cuh:
#pragma once

/// setRowReadCol with a tile that is sized at launch: one int a thread. One square block.
__global__ void setRowReadColDyn(int* out) {
    extern __shared__ int tile[]; // as large as the launch says
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    tile[row * (width + 1) + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * (width + 1) + row];
}

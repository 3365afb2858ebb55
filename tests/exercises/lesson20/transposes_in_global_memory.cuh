// expect: traffic: global store sectors of setRowReadColDyn: yours 512, goal 64
#pragma once

/// setRowReadCol with a tile that is sized at launch: one int a thread. One block.
__global__ void setRowReadColDyn(int* out) {
    extern __shared__ int tile[]; // as large as the launch says
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x, height = blockDim.y;
    const unsigned int idx = row * width + col;

    tile[row * width + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[col * height + row] = tile[idx];
}

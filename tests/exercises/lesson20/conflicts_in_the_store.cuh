// expect: traffic: shared store wavefronts of setRowReadColDyn: yours {}, goal 16
#pragma once

/// setRowReadCol with a tile that is sized at launch: one int a thread. One block.
__global__ void setRowReadColDyn(int* out) {
    extern __shared__ int tile[]; // as large as the launch says
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x, height = blockDim.y;
    const unsigned int idx = row * width + col;

    tile[col * height + row] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[idx];
}

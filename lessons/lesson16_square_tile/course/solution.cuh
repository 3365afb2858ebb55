#pragma once

#include "given.cuh"

/// Stores by columns and reads by rows: leaves the transposed tile. One square block.
/// The tile is declared at kernel scope: no other kernel knows its name.
__global__ void setRowReadCol(int* out) {
    __shared__ int tile[1024]; // as large as the largest block
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    tile[col * width + row] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[row * width + col];
}

#pragma once

/// setRowReadCol with a tile that is sized at launch: one int per thread. One square block.
__global__ void setRowReadColDyn(int* out) {
    // TODO, about 3 lines: the tile is 16 x 16, whatever the block is. Let the launch say how large it is,
    // and compute by hand what the compiler computes from the two indices.
    __shared__ int tile[16][16];
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    tile[row][col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col][row];
}

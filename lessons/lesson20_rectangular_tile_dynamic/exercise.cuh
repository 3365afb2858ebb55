#pragma once

/// setRowReadCol with a tile that is sized at launch: one int per thread. One block.
__global__ void setRowReadColDyn(int* out) {
    extern __shared__ int tile[]; // sized by the launch
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    // TODO, about 4 lines: this goes for squares. Leave the transposed tile of any rectangle, within the
    // words that the launch has asked for, one for each thread.
    tile[row * width + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * width + row];
}

#pragma once

/// At file scope: every kernel of this file may use the name. The memory they do not share: each block of
/// each launch has an array of its own. It is as large as the largest block.
__shared__ int file_tile[1024];

/// Stores by rows and reads by rows: thread i gets i back. One block, one thread per int of the tile.
__global__ void setRowReadRow(int* out) {
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    file_tile[row * width + col] = idx;
    __syncthreads(); // No hazard: each thread reads its own word. Without it the compiler would not load.
    out[idx] = file_tile[row * width + col];
}

/// Stores by columns and reads by columns: thread i gets i back. One square block.
__global__ void setColReadCol(int* out) {
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    // Bad on purpose: neighboring lanes take words that lie `width` apart.
    file_tile[col * width + row] = idx;
    __syncthreads(); // No hazard: each thread reads its own word. Without it the compiler would not load.
    out[idx] = file_tile[col * width + row];
}

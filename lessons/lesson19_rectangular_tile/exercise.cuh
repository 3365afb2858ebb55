#pragma once

/// Stores by rows and reads by rows: thread i gets i back. One block, one thread per int of the tile.
__global__ void setRowReadRow(int* out) {
    __shared__ int tile[1024]; // as large as the largest block
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    tile[row * width + col] = idx;
    __syncthreads(); // No hazard: each thread reads its own word. Without it the compiler would not load.
    out[idx] = tile[row * width + col];
}

/// Stores by columns and reads by columns: thread i gets i back. One block, one thread per int of the
/// tile.
__global__ void setColReadCol(int* out) {
    __shared__ int tile[1024]; // as large as the largest block
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x, height = blockDim.y;
    const unsigned int idx = row * width + col;
    // The place of element idx in the transposed tile, which has `width` rows of `height` ints.
    const unsigned int transposed_row = idx / height, transposed_col = idx % height;

    // Bad on purpose: neighboring lanes take words that lie `width` apart.
    tile[transposed_col * width + transposed_row] = idx;
    __syncthreads(); // No hazard: each thread reads its own word. Without it the compiler would not load.
    out[idx] = tile[transposed_col * width + transposed_row];
}

/// Stores by columns and reads by rows: leaves the transposed tile, which lies in shared memory as it lies in
/// `out`. One block, one thread per int of the tile.
__global__ void setRowReadCol(int* out) {
    __shared__ int tile[1024]; // as large as the largest block
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x, height = blockDim.y;
    const unsigned int idx = row * width + col;
    // The place of element idx in the transposed tile, which has `width` rows of `height` ints.
    const unsigned int transposed_row = idx / height, transposed_col = idx % height;

    // TODO, about 4 lines: let the store go down columns and the load along rows, for any rectangle. Then no
    // thread divides.
    tile[row * width + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[transposed_col * width + transposed_row];
}

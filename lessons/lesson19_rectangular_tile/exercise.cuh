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
    // TODO, about 5 lines: go down the columns of any rectangle. With x and y swapped, thread 31 of a block
    // that is 32 wide and 16 high asks for row 31 of a tile that has 16 rows.
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    // Bad on purpose: neighboring lanes take words that lie `width` apart.
    tile[col * width + row] = idx;
    __syncthreads(); // No hazard: each thread reads its own word. Without it the compiler would not load.
    out[idx] = tile[col * width + row];
}

/// Stores by rows and reads by columns: leaves the transposed tile. One block, one thread per int of the
/// tile.
__global__ void setRowReadCol(int* out) {
    __shared__ int tile[1024]; // as large as the largest block
    // TODO, about 4 lines: the same for the load. `out` has to hold the transposed tile: width rows of height
    // ints.
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int idx = row * width + col;

    tile[row * width + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * width + row];
}

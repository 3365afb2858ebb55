// expect: traffic: shared load wavefronts of setRowReadColPad: yours 1,024, goal 32
#pragma once

/// setRowReadCol with `padding` unused ints behind each row of the tile: 33 at most. One square block.
__global__ void setRowReadColPad(int* out, unsigned int padding) {
    __shared__ int tile[32 * (32 + 33)]; // as large as the largest block, with the most padding
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int pitch = width;
    const unsigned int idx = row * width + col; // `out` has no padding

    tile[padding + row * pitch + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[padding + col * pitch + row];
}

/// The same with a tile that is sized at launch: width + padding ints for each row.
__global__ void setRowReadColDynPad(int* out, unsigned int padding) {
    extern __shared__ int tile[]; // as large as the launch says
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int pitch = width;
    const unsigned int idx = row * width + col; // `out` has no padding

    tile[padding + row * pitch + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[padding + col * pitch + row];
}

// expect: right: wrong result
#pragma once

/// The most ints that a static array in shared memory may have: 48 KiB.
constexpr unsigned int static_ints = 12 * 1024;

/// setRowReadCol with `padding` unused ints behind each row of the tile. One block, whose padded tile fits in
/// static_ints.
__global__ void setRowReadColPad(int* out, unsigned int padding) {
    __shared__ int tile[static_ints];
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int pitch = width + padding; // from one row of the tile to the next
    const unsigned int idx = row * width + col; // `out` has no padding

    tile[row * pitch + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * pitch + row];
}

/// The same with a tile that is sized at launch: width + padding ints for each row.
__global__ void setRowReadColDynPad(int* out, unsigned int padding) {
    extern __shared__ int tile[]; // as large as the launch says
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int pitch = width + padding; // from one row of the tile to the next
    const unsigned int idx = row * width + col; // `out` has no padding

    tile[row * pitch + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * pitch + row];
}

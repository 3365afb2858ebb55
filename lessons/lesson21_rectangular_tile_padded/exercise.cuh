#pragma once

/// The most ints that a static array in shared memory may have: 48 KiB.
constexpr unsigned int static_ints = 12 * 1024;

/// setRowReadCol with `padding` unused ints after each row of the tile. One block, whose padded tile fits in
/// static_ints.
__global__ void setRowReadColPad(int* out, unsigned int padding) {
    __shared__ int tile[static_ints];
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x, height = blockDim.y;
    const unsigned int idx = row * width + col;
    // The place of element idx in the transposed tile, which has `width` rows of `height` ints.
    const unsigned int transposed_row = idx / height, transposed_col = idx % height;

    // TODO, about 3 lines: leave `padding` ints unused after each row of the tile, any number of them. Which
    // of the sizes here are sizes of the tile in memory, and which are those of the block?
    tile[row * width + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[transposed_col * width + transposed_row];
}

/// The same with a tile that is sized at launch: width + padding ints for each row.
__global__ void setRowReadColDynPad(int* out, unsigned int padding) {
    extern __shared__ int tile[]; // sized by the launch
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x, height = blockDim.y;
    const unsigned int idx = row * width + col;
    // The place of element idx in the transposed tile, which has `width` rows of `height` ints.
    const unsigned int transposed_row = idx / height, transposed_col = idx % height;

    // TODO, about 3 lines: the same with the tile that the launch has sized, padding included.
    tile[row * width + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[transposed_col * width + transposed_row];
}

#pragma once

/// The most ints that a static array in shared memory may have: 48 KiB.
constexpr unsigned int static_ints = 12 * 1024;

/// setRowReadCol with `padding` unused ints after each row of the tile. One block, whose padded tile fits in
/// static_ints.
__global__ void setRowReadColPad(int* out, unsigned int padding) {
    __shared__ int tile[static_ints];
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x, height = blockDim.y;
    const unsigned int pitch = width + padding; // from one row of the tile to the next
    const unsigned int idx = row * width + col; // `out` has no padding
    // The place of element idx in the transposed tile, which has `width` rows of `height` ints.
    const unsigned int transposed_row = idx / height, transposed_col = idx % height;

    tile[row * pitch + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[transposed_col * pitch + transposed_row];
}

/// A tile that is sized at launch, of exactly width x height ints if `padding` is 0. It leaves none unused: an
/// element lies in its own row, in another column. The width is a multiple of 32.
__global__ void setRowReadColDynPad(int* out, unsigned int padding) {
    extern __shared__ int tile[]; // sized by the launch
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x, height = blockDim.y;
    const unsigned int pitch = width + padding; // from one row of the tile to the next
    const unsigned int idx = row * width + col; // `out` has no padding
    // The place of element idx in the transposed tile, which has `width` rows of `height` ints.
    const unsigned int transposed_row = idx / height, transposed_col = idx % height;

    // TODO, about 4 lines: store each element in another column of its row, and load it from there. With a
    // padding of 0, neither access may have a bank conflict in tiles of 2 to 32 rows.
    tile[row * pitch + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[transposed_col * pitch + transposed_row];
}

#pragma once

/// A tile that is sized at launch: one int per thread. It leaves none unused: an element lies in its own row,
/// in another column. One block, whose width is a power of two, 32 at most.
__global__ void setRowReadColDyn(int* out) {
    extern __shared__ int tile[]; // sized by the launch
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x, height = blockDim.y;
    const unsigned int idx = row * width + col;
    // The place of element idx in the transposed tile, which has `width` rows of `height` ints.
    const unsigned int transposed_row = idx / height, transposed_col = idx % height;
    const unsigned int rows_per_line = 32 / width; // of the 32 banks

    tile[row * width + (col ^ row / rows_per_line % width)] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[transposed_col * width + (transposed_row ^ transposed_col / rows_per_line % width)];
}

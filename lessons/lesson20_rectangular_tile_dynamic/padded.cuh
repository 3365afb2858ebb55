#pragma once

// The kernel of lesson 21, which joins when --padding is given.

/// setRowReadColDyn with `padding` unused ints after each row of the tile. One block.
__global__ void setRowReadColDynPad(int* out, unsigned int padding) {
    extern __shared__ int tile[]; // sized by the launch
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x, height = blockDim.y;
    const unsigned int pitch = width + padding; // from one row of the tile to the next
    const unsigned int idx = row * width + col; // `out` has no padding
    // The place of element idx in the transposed tile, which has `width` rows of `height` ints.
    const unsigned int transposed_row = idx / height, transposed_col = idx % height;

    tile[row * pitch + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[transposed_col * pitch + transposed_row];
}

#pragma once

/// setRowReadCol with `padding` unused ints after each row of the tile: 33 at most. One square block.
__global__ void setRowReadColPad(int* out, unsigned int padding) {
    __shared__ int tile[32 * (32 + 33)]; // as large as the largest block, with the most padding
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int pitch = width + padding; // from one row of the tile to the next
    const unsigned int idx = row * width + col; // `out` has no padding

    tile[row * pitch + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * pitch + row];
}

/// A tile that is sized at launch: width + padding ints for each row.
/// After each 32 ints of the tile, a line of the banks, lie `padding` unused ints.
__global__ void setRowReadColDynPad(int* out, unsigned int padding) {
    extern __shared__ int tile[]; // sized by the launch
    const unsigned int row = threadIdx.y, col = threadIdx.x, width = blockDim.x;
    const unsigned int pitch = width + padding; // from one row of the tile to the next
    const unsigned int idx = row * width + col; // `out` has no padding

    // TODO, about 4 lines: put the padding after each 32 ints of the tile in place of after each row. A row
    // may have fewer ints than that.
    tile[row * pitch + col] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[col * pitch + row];
}

#pragma once

#include <cuda/atomic>

#include <cstddef>

#include "given.cuh"

/// The whole scan in one launch, for any n: each block takes a tile and looks back for what comes before it.
__global__ void scan_lookback(const int* input, int* output, std::size_t n, Tiles tiles) {
    __shared__ int warp_sums[32];
    __shared__ unsigned int taken;
    __shared__ int sum_before;
    // Not blockIdx.x: nothing promises that block 0 starts before block 1. Whoever takes 1 knows that 0 is
    // taken, so that its block runs.
    if (threadIdx.x == 0) {
        taken = atomicAdd(tiles.next, 1u);
    }
    __syncthreads(); // The number is stored before all threads read it.
    const unsigned int tile = taken;
    const std::size_t i = std::size_t{tile} * blockDim.x + threadIdx.x;

    const int sum = scan_block(i < n ? input[i] : 0, warp_sums);
    if (threadIdx.x == blockDim.x - 1) { // the one that has the tile's sum
        // TODO, about 25 lines: publish this tile's sum, look back for the sum of all tiles before it, and
        // publish the prefix. An atomic status orders nothing else: that takes fences.
        sum_before = 0;
    }
    __syncthreads(); // The sum is stored before all threads read it.
    if (i < n) {
        output[i] = sum_before + sum;
    }
}

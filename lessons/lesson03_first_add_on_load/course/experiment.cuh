/// An experiment: reduce3 starts half of the blocks, and half of the threads. Which of them gains how much? Timed by
/// bench/experiments.cu.
#pragma once

#include <cstddef>

/// Starts and ends: what is left is the start of its blocks.
__global__ void empty_blocks(const int*, int*, std::size_t) {}

/// reduce2 twice in each block, one tile after the other. Half of the blocks do all of reduce2's work.
/// Leaves two partial sums per block.
__global__ void reduce2_two_tiles(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;

#pragma unroll 1 // or the second tile's loads would not wait for the first tile
    for (unsigned int tile = 0; tile < 2; ++tile) {
        const std::size_t i = (std::size_t{blockIdx.x} * 2 + tile) * blockDim.x + tid;
        shared[tid] = i < n ? input[i] : 0;
        __syncthreads(); // Every element is stored before another thread reads it.

        for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
            if (tid < stride) {
                shared[tid] += shared[tid + stride];
            }
            __syncthreads(); // This step's sums are stored before the next step reads them.
        }

        if (tid == 0) { // It alone stores to word 0 of the next tile.
            partial_sums[std::size_t{blockIdx.x} * 2 + tile] = shared[0];
        }
    }
}

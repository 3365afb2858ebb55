#pragma once

#include <cstddef>

#include "given.cuh"

/// The whole sum in one launch: the block that finishes last adds up the partial sums of all. It does so in
/// the order of the blocks, whichever block it is: the result does not depend on which is last.
/// partial_sums: one int per block. blocks_done: 0 before the launch, and 0 again after it.
/// Shared memory: one int per thread and a flag, static.
template <unsigned int block_size>
__global__ void reduce9(const int* input, int* result, std::size_t n, int* partial_sums,
                        unsigned int* blocks_done) {
    static_assert(block_size >= 32 && block_size <= 1024 && (block_size & (block_size - 1)) == 0,
                  "whole warps, and halves of halves: a power of two from 32 to 1024");
    __shared__ int shared[block_size];
    const unsigned int tid = threadIdx.x;
    // 64 bits wide: beyond 2^32 elements narrower indices would wrap around.
    const std::size_t thread = std::size_t{blockIdx.x} * block_size + tid;
    const std::size_t grid_threads = std::size_t{gridDim.x} * block_size;

    int sum = sum_over_block<block_size>(sum_of_thread(input, n, thread, grid_threads), shared);

    if (tid == 0) {
        partial_sums[blockIdx.x] = sum;
    }
    // TODO, about 20 lines: count this block as done. The block that is the last one adds up the partial sums
    // of all, in the order of the blocks, and stores the result. No block waits for another, and blocks_done
    // ends at 0.
}

#pragma once

#include <cstddef>

#include "given.cuh"

/// The whole sum in one launch: the block that finishes last adds up the partial sums of all. It does so in
/// the order of the blocks, whichever block it is: the result does not depend on which is last.
/// partial_sums: one int per block. blocks_done: 0 before the launch, and 0 again after it.
/// Shared memory: one int per thread, static. The barrier hands the first thread's verdict to all threads.
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

    bool is_last = false;
    if (tid == 0) {
        partial_sums[blockIdx.x] = sum;
        __threadfence(); // Whoever sees this block counted sees its partial sum.
        // Counts to gridDim.x - 1 and then starts at 0 again, ready for the next launch.
        is_last = atomicInc(blocks_done, gridDim.x - 1) == gridDim.x - 1;
        __threadfence(); // What this block reads from here on is no older than the count it saw.
    }
    // The first thread's verdict, and what it may rely on, holds for all.
    if (!__syncthreads_or(is_last)) {
        return; // the whole block: no thread is left to wait at a barrier
    }

    // A plain load would do: fence and barrier order it too. __ldcg loads where the blocks meet, in the L2
    // cache; each multiprocessor has its own L1 cache.
    sum = 0;
    for (unsigned int b = tid; b < gridDim.x; b += block_size) {
        sum += __ldcg(&partial_sums[b]);
    }
    sum = sum_over_block<block_size>(sum, shared);
    if (tid == 0) {
        *result = sum;
    }
}

#pragma once

#include <cstddef>

/// Four words become one in each step. The block size is known to the compiler, so that it can unroll the
/// whole tree. Shared memory: one int per thread. Leaves one partial sum per block.
template <unsigned int block_size>
__global__ void reduce5(const int* input, int* partial_sums, std::size_t n) {
    static_assert(block_size >= 32 && block_size <= 1024 && (block_size & (block_size - 1)) == 0,
                  "whole warps, and halves of halves: a power of two from 32 to 1024");
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * (2 * block_size) + tid;

    int sum = i < n ? input[i] : 0;
    if (i + block_size < n) {
        sum += input[i + block_size];
    }
    shared[tid] = sum;
    __syncthreads(); // Every sum of two is stored before another thread reads it.

    // The compiler knows how often: no loop is left, and no condition on block_size.
#pragma unroll
    for (unsigned int words = block_size; words > 128; words /= 4) {
        const unsigned int quarter = words / 4;
        if (tid < quarter) {
            shared[tid] += shared[tid + quarter] + shared[tid + 2 * quarter] + shared[tid + 3 * quarter];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }
    // 1024 and 256 have become 64, and 512 has become 128. The last warp takes the rest.
    constexpr unsigned int left = block_size <= 128 ? block_size : block_size == 512 ? 128 : 64;

    // All 32 lanes add in every step: a warp takes no longer for it than for one lane, and needs no guard.
    // Nothing promises that they run in lock-step: hence a barrier after each store, and one after each load.
    if (tid < 32) {
        sum = shared[tid];
        if constexpr (left > 32) {
            sum += shared[tid + 32];
            if constexpr (left > 64) {
                sum += shared[tid + 64] + shared[tid + 96];
            }
            shared[tid] = sum;
        }
        __syncwarp(); // written, then read
        sum += shared[tid ^ 16];
        __syncwarp(); // read, then overwritten
        shared[tid] = sum;
        __syncwarp();
        sum += shared[tid ^ 8];
        __syncwarp();
        shared[tid] = sum;
        __syncwarp();
        sum += shared[tid ^ 4];
        __syncwarp();
        shared[tid] = sum;
        __syncwarp();
        sum += shared[tid ^ 2];
        __syncwarp();
        shared[tid] = sum;
        __syncwarp();
        sum += shared[tid ^ 1];
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = sum;
    }
}

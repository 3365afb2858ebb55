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

    // TODO, about 25 lines: let four words become one in each step, as long as there are more than 128, and
    // let the last warp take all that are left. The compiler knows block_size. Let it write just those steps
    // that such a block has, without a question asked at run time.
    if constexpr (block_size >= 1024) {
        if (tid < 512) {
            shared[tid] += shared[tid + 512];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }
    if constexpr (block_size >= 512) {
        if (tid < 256) {
            shared[tid] += shared[tid + 256];
        }
        __syncthreads();
    }
    if constexpr (block_size >= 256) {
        if (tid < 128) {
            shared[tid] += shared[tid + 128];
        }
        __syncthreads();
    }
    if constexpr (block_size >= 128) {
        if (tid < 64) {
            shared[tid] += shared[tid + 64];
        }
        __syncthreads();
    }

    // All 32 lanes add in every step: a warp takes no longer for it than for one lane, and needs no guard.
    // Nothing promises that they run in lock-step: hence a barrier after each store, and one after each load.
    if (tid < 32) {
        sum = shared[tid];
        if constexpr (block_size > 32) {
            sum += shared[tid + 32];
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

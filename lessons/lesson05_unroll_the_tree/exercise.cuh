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
    const std::size_t i = std::size_t{blockIdx.x} * (2 * blockDim.x) + tid;

    int sum = i < n ? input[i] : 0;
    if (i + blockDim.x < n) {
        sum += input[i + blockDim.x];
    }
    shared[tid] = sum;
    __syncthreads(); // Every sum of two is stored before another thread reads it.

    // TODO, about 25 lines: let four words become one in each step, as long as there are more than 128, and
    // let the last warp take all that are left. The compiler knows block_size. Let it write just those steps
    // that such a block has, without a loop and without a question asked at run time.
    for (unsigned int stride = blockDim.x / 2; stride > 32; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    // All 32 lanes add in every step: a warp takes no longer for it than for one lane, and needs no guard.
    // Nothing promises that they run in lock-step: hence a barrier after each store, and one after each load.
    if (tid < 32) {
        sum = shared[tid];
        if (blockDim.x > 32) {
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

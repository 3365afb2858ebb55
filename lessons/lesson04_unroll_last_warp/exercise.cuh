#pragma once

#include <cstddef>

/// When 128 words are left, one warp finishes alone: four words per lane, no loop, and barriers for the warp
/// in place of barriers for the block. Shared memory: one int per thread. Leaves one partial sum per block.
__global__ void reduce4(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * (2 * blockDim.x) + tid;

    int sum = i < n ? input[i] : 0;
    if (i + blockDim.x < n) {
        sum += input[i + blockDim.x];
    }
    shared[tid] = sum;
    __syncthreads(); // Every sum of two is stored before another thread reads it.

    // TODO, about 5 lines: end the loop when 128 words are left. The first warp then takes four words per lane.
    // Blocks of 32 and 64 threads never have 128 words.
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

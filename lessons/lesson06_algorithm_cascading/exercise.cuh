#pragma once

#include <cstddef>

/// Each thread first adds up many elements, four per turn: a loop over all of them, whatever the grid.
/// Shared memory: one int per thread. Leaves one partial sum per block.
template <unsigned int block_size>
__global__ void reduce6(const int* input, int* partial_sums, std::size_t n) {
    static_assert(block_size >= 32 && block_size <= 1024 && (block_size & (block_size - 1)) == 0,
                  "whole warps, and halves of halves: a power of two from 32 to 1024");
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    // TODO, about 6 lines: let each thread load four elements per turn. A block then takes four times as many
    // elements as it has threads, the next block the next ones, and so on. A warp's loads stay side by side.
    // 64 bits wide: beyond 2^32 elements a narrower i would wrap around and never reach n.
    const std::size_t grid_stride = std::size_t{gridDim.x} * (2 * block_size);

    int sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * (2 * block_size) + tid; i < n; i += grid_stride) {
        sum += input[i];
        if (i + block_size < n) {
            sum += input[i + block_size];
        }
    }
    shared[tid] = sum;
    __syncthreads(); // Every thread's sum is stored before another thread reads it.

    // The compiler knows which of these steps exist: no condition on block_size is left.
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

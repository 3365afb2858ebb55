#pragma once

#include <cstddef>

#include "given.cuh"

/// The same tree in shared memory. Its first step adds what it loads from global memory, and stores only the
/// sums: half a block of words. The size is known to the compiler. Leaves one partial sum per block.
template <unsigned int block_size>
__global__ void reduceSmem(const int* input, int* partial_sums, std::size_t n) {
    constexpr unsigned int words = block_size / 2;
    __shared__ int shared[words];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    if (tid < words) {
        int sum = i < n ? input[i] : 0;
        if (i + words < n) {
            sum += input[i + words];
        }
        shared[tid] = sum;
    }
    __syncthreads(); // Every sum of two is stored before another thread reads it.

    for (unsigned int stride = words / 2; stride > 32; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    // One warp is left: all of its lanes add in every step, and reload both words.
    if (tid < 32) {
#pragma unroll
        for (unsigned int stride = 32; stride > 0; stride /= 2) {
            const bool has_partner = tid + stride < words;
            const int sum = has_partner ? shared[tid] + shared[tid + stride] : 0;
            __syncwarp(); // Every lane has read before another one overwrites.
            if (has_partner) {
                shared[tid] = sum;
            }
            __syncwarp(); // This step's sums are stored before the next step reads them.
        }
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

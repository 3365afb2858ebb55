#pragma once

#include <cstddef>

/// Each thread loads four elements and adds them on the way in: a quarter of the blocks.
/// Shared memory: one int per thread. Leaves one partial sum per block.
__global__ void reduce3(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * (4 * blockDim.x) + tid;

    int sum = 0;
    for (unsigned int k = 0; k < 4; ++k) {
        if (i + k * blockDim.x < n) {
            sum += input[i + k * blockDim.x];
        }
    }
    shared[tid] = sum;
    __syncthreads(); // Every sum of four is stored before another thread reads it.

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

#pragma once

#include <cstddef>

/// Three words become one in each step. The adders are the first threads of the block, and no stride is even,
/// so that no two lanes of a warp share a bank. Shared memory: one int per thread. Leaves one partial sum per
/// block.
__global__ void reduce1(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 3) {
        const unsigned int index = 3 * stride * tid;
        if (index < blockDim.x) {
            int sum = shared[index];
            if (index + stride < blockDim.x) {
                sum += shared[index + stride];
            }
            if (index + 2 * stride < blockDim.x) {
                sum += shared[index + 2 * stride];
            }
            shared[index] = sum;
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

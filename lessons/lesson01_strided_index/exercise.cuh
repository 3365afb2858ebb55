#pragma once

#include <cstddef>

/// Three words become one in each step, and the adders are the first threads of the block.
/// Shared memory: one int per thread. Leaves one partial sum per block.
__global__ void reduce1(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    // TODO, about 10 lines: make three words one in each step, in place of two. A block's size is no power of
    // three: which words does the last thread not have?
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned int index = 2 * stride * tid;
        if (index < blockDim.x) {
            shared[index] += shared[index + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

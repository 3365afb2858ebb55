#pragma once

#include <cstddef>

/// The adders of each step are the first threads of the block, so that whole warps drop out.
/// Shared memory: one int per thread. Leaves one partial sum per block.
__global__ void reduce1(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        // Bad on purpose: lanes that lie 2 * stride words apart share banks.
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

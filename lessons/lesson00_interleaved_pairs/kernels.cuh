#pragma once

#include <cstddef>

/// The baseline: one element per thread, and a tree of interleaved pairs in shared memory.
/// Shared memory: one int per thread. Leaves one partial sum per block.
__global__ void reduce0(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        // Bad on purpose: a remainder is slow, and the adders lie scattered over all the warps.
        if (tid % (2 * stride) == 0) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

/// reduce0 with a bit mask in place of the remainder: 2 * stride is a power of two.
__global__ void reduce0a(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        // Still bad on purpose: the adders lie scattered over all the warps.
        if ((tid & (2 * stride - 1)) == 0) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

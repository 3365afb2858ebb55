#pragma once

#include <cstddef>

/// The baseline: one element a thread, and a tree of interleaved pairs in shared memory.
/// Shared memory: one int a thread. Leaves one partial sum a block.
__global__ void reduce0(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        // TODO, about 4 lines: add the sums that are left in pairs of neighbors, stride words apart, all at
        // the same time; the left one of a pair takes the sum. Find out by a remainder which threads add. No
        // step may begin too early.
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
        // TODO, about 4 lines: the same without a remainder: 2 * stride is a power of two.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

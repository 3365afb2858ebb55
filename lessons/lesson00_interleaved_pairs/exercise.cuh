#pragma once

#include <climits>
#include <cstddef>

/// The maximum by a tree of interleaved pairs in shared memory.
/// Shared memory: one int per thread. Leaves the maximum of each block.
__global__ void reduce0(const int* input, int* maxima, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    // TODO, about 1 line: the last block may have more threads than elements. What can such a thread store,
    // so that the maximum is right even if all elements are below 0?
    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        // TODO, about 4 lines: compare the maxima that are left in pairs of neighbors, stride words apart,
        // all at the same time; the left word of a pair takes the larger one. Find out by a remainder which
        // threads compare. No step may begin too early.
    }

    if (tid == 0) {
        maxima[blockIdx.x] = shared[0];
    }
}

/// reduce0 with a bit mask in place of the remainder: 2 * stride is a power of two.
__global__ void reduce0a(const int* input, int* maxima, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    // TODO, about 1 line: the same here.
    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        // TODO, about 4 lines: the same without a remainder: 2 * stride is a power of two.
    }

    if (tid == 0) {
        maxima[blockIdx.x] = shared[0];
    }
}

#pragma once

#include <climits>
#include <cstddef>

/// The maximum by a tree of interleaved pairs in shared memory.
/// Shared memory: one int per thread. Leaves the maximum of each block.
__global__ void reduce0(const int* input, int* maxima, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    // INT_MIN never wins: it is above no element.
    shared[tid] = i < n ? input[i] : INT_MIN;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) {
            shared[tid] = max(shared[tid], shared[tid + stride]);
        }
        __syncthreads(); // This step's maxima are stored before the next step reads them.
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

    // INT_MIN never wins: it is above no element.
    shared[tid] = i < n ? input[i] : INT_MIN;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if ((tid & (2 * stride - 1)) == 0) {
            shared[tid] = max(shared[tid], shared[tid + stride]);
        }
        __syncthreads(); // This step's maxima are stored before the next step reads them.
    }

    if (tid == 0) {
        maxima[blockIdx.x] = shared[0];
    }
}

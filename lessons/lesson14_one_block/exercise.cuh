#pragma once

#include <cstddef>

#include "given.cuh"

/// Distant pairs are added first, and adjacent threads add: whole warps work, or none. In place: overwrites
/// data.
__global__ void strided_reduction(int* data, int* result, std::size_t n) {
    // TODO, about 4 lines: in each step the threads that add have to be the first ones, side by side, and so
    // have the elements that they read. Choose other pairs: thread i keeps element i.
    const unsigned int i = 2 * threadIdx.x;

    for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
        if (threadIdx.x % stride == 0 && i + stride < n) {
            data[i] += data[i + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (threadIdx.x == 0) {
        *result = data[0];
    }
}

/// The same tree in shared memory, from its second step on: global memory is read once, and never written.
/// Shared memory: one int per thread.
__global__ void smem_reduction(const int* data, int* result, std::size_t n) {
    extern __shared__ int shared[];
    // TODO, about 7 lines: the tree of strided_reduction. Its first step is the two loads, the others are the
    // loop.
    const unsigned int i = 2 * threadIdx.x;

    int sum = i < n ? data[i] : 0;
    if (i + 1 < n) {
        sum += data[i + 1];
    }
    shared[threadIdx.x] = sum;
    __syncthreads(); // Every sum of two is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0) {
            shared[threadIdx.x] += shared[threadIdx.x + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (threadIdx.x == 0) {
        *result = shared[0];
    }
}

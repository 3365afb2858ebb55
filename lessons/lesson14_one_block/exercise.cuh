#pragma once

#include <cstddef>

#include "given.cuh"

/// Distant pairs are added first, and adjacent threads add: whole warps work, or none. A thread keeps its sum
/// in a register, and stores it once, before another thread loads it. In place: overwrites data.
__global__ void strided_reduction(int* data, int* result, std::size_t n) {
    // TODO, about 5 lines: keep the thread's sum in a register, a local variable, from its element to the end.
    // Load what other threads stored, and store what another thread will load. Nothing else.
    const unsigned int i = threadIdx.x;

    for (unsigned int stride = blockDim.x; stride > 0; stride /= 2) {
        if (threadIdx.x < stride && i + stride < n) {
            data[i] += data[i + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (threadIdx.x == 0) {
        *result = data[0];
    }
}

/// The same tree in shared memory, from its second step on: global memory is read once, and never written.
/// A thread stores its sum once. Shared memory: one int per thread.
__global__ void smem_reduction(const int* data, int* result, std::size_t n) {
    extern __shared__ int shared[];
    // TODO, about 6 lines: the same here.
    const unsigned int i = threadIdx.x;

    int sum = i < n ? data[i] : 0;
    if (i + blockDim.x < n) {
        sum += data[i + blockDim.x];
    }
    shared[threadIdx.x] = sum;
    __syncthreads(); // Every sum of two is stored before another thread reads it.

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            shared[threadIdx.x] += shared[threadIdx.x + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (threadIdx.x == 0) {
        *result = shared[0];
    }
}

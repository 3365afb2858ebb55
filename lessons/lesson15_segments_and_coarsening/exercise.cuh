#pragma once

#include <cstddef>

#include "given.cuh"

/// A segment of 2 * coarsening * blockDim.x ints: each thread sums 2 * coarsening of them, alone, before the
/// block's tree begins. Shared memory: one int per thread.
template <unsigned int coarsening>
__global__ void coarse_reduction(const int* data, int* result, std::size_t n) {
    extern __shared__ int shared[];
    // TODO, about 7 lines: a segment has 2 * coarsening elements for each thread now. Let each thread sum its
    // share, with loads that stay side by side in a warp, and right for every n.
    const std::size_t segment = std::size_t{blockIdx.x} * (2 * blockDim.x);
    const std::size_t i = segment + threadIdx.x;

    int sum = i < n ? data[i] : 0;
    if (i + blockDim.x < n) {
        sum += data[i + blockDim.x];
    }
    shared[threadIdx.x] = sum;
    __syncthreads(); // Every thread's sum is stored before another thread reads it.

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            shared[threadIdx.x] += shared[threadIdx.x + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (threadIdx.x == 0) {
        atomicAdd(result, shared[0]);
    }
}

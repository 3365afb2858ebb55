#pragma once

#include <cstddef>

#include "given.cuh"

/// A segment of 2 * coarsening * blockDim.x ints: each thread sums 2 * coarsening of them, alone. Then each
/// warp adds up its lanes with shuffles, and the first warp adds up the warps. Shared memory: one int per
/// thread, of which one per warp is used.
template <unsigned int coarsening>
__global__ void coarse_reduction(const int* data, int* result, std::size_t n) {
    extern __shared__ int shared[];
    const std::size_t segment = std::size_t{blockIdx.x} * (2 * coarsening * blockDim.x);
    const std::size_t i = segment + threadIdx.x;

    int sum = 0;
    for (unsigned int k = 0; k < 2 * coarsening; ++k) {
        if (i + k * blockDim.x < n) {
            sum += data[i + k * blockDim.x];
        }
    }
    // TODO, about 14 lines: add up the lanes of each warp with shuffles, and then the warps, with one word of
    // shared memory per warp and one barrier.
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

#pragma once

#include <cstddef>

#include "given.cuh"

/// A histogram per block in shared memory, which the block adds to the grid's when it has counted.
__global__ void histogram_shared(const int* input, int* histogram, std::size_t n) {
    __shared__ int counts[bins];
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;

    for (unsigned int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        counts[bin] = 0;
    }
    __syncthreads(); // Every count is 0 before a thread adds to one.

    for (std::size_t i = thread; i < n; i += grid_threads) {
        atomicAdd(&counts[bin_of(input[i])], 1);
    }
    __syncthreads(); // Every element is counted before a count is read.

    for (unsigned int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        atomicAdd(&histogram[bin], counts[bin]);
    }
}

/// A histogram per warp in shared memory. Dynamic shared memory: `bins` ints per warp.
__global__ void histogram_private(const int* input, int* histogram, std::size_t n) {
    // TODO, about 8 lines: give every warp its own counts, in dynamic shared memory. Add these up before you add to
    // `histogram`.
    __shared__ int counts[bins];
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;

    for (unsigned int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        counts[bin] = 0;
    }
    __syncthreads(); // Every count is 0 before a thread adds to one.

    for (std::size_t i = thread; i < n; i += grid_threads) {
        atomicAdd(&counts[bin_of(input[i])], 1);
    }
    __syncthreads(); // Every element is counted before a count is read.

    for (unsigned int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        atomicAdd(&histogram[bin], counts[bin]);
    }
}

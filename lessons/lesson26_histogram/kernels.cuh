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
    extern __shared__ int counts_of_warps[];
    const unsigned int words = blockDim.x / 32 * bins;
    int* const counts = counts_of_warps + threadIdx.x / 32 * bins; // those of this warp
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;

    for (unsigned int word = threadIdx.x; word < words; word += blockDim.x) {
        counts_of_warps[word] = 0;
    }
    __syncthreads(); // Every count is 0 before a thread adds to one.

    for (std::size_t i = thread; i < n; i += grid_threads) {
        atomicAdd(&counts[bin_of(input[i])], 1);
    }
    __syncthreads(); // Every element is counted before a count is read.

    for (unsigned int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        int count = 0;
        for (unsigned int word = bin; word < words; word += bins) {
            count += counts_of_warps[word];
        }
        atomicAdd(&histogram[bin], count);
    }
}

#pragma once

#include <cstddef>

#include "given.cuh"

/// A histogram per block in shared memory, which the block adds to the grid's when it has counted.
__global__ void histogram_shared(const int* input, int* histogram, std::size_t n) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;

    // TODO, about 10 lines: count in shared memory, and add the block's counts to `histogram` at the end.
    for (std::size_t i = thread; i < n; i += grid_threads) {
        atomicAdd(&histogram[bin_of(input[i])], 1);
    }
}

/// A histogram per warp in shared memory. Dynamic shared memory: `bins` ints per warp.
__global__ void histogram_private(const int* input, int* histogram, std::size_t n) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;

    // TODO, about 15 lines: the same, but every warp has its own counts. Add these up before you add to
    // `histogram`.
    for (std::size_t i = thread; i < n; i += grid_threads) {
        atomicAdd(&histogram[bin_of(input[i])], 1);
    }
}

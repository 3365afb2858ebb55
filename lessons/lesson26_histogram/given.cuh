#pragma once

#include <cstddef>

// The kernels add to `histogram`, which must be 0 before the launch: `bins` ints in global memory. They are
// right for any n and any grid. blockDim.x is a multiple of 32.

constexpr unsigned int bins = 256; // one for each value of a byte

/// The bin that counts an element: its lowest byte.
__device__ unsigned int bin_of(int element) { return static_cast<unsigned int>(element) % bins; }

/// One histogram for the grid: every thread adds to the same words in global memory.
__global__ void histogram_global(const int* input, int* histogram, std::size_t n) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;

    for (std::size_t i = thread; i < n; i += grid_threads) {
        atomicAdd(&histogram[bin_of(input[i])], 1);
    }
}

#pragma once

#include <cstddef>

// One block sums n ints, 2 * blockDim.x at most, and stores the sum in *result. blockDim.x is a power of two.

/// Neighbors are added first; the threads that still add are spread over all warps, on purpose. In place:
/// overwrites data.
__global__ void blocked_reduction(int* data, int* result, std::size_t n) {
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

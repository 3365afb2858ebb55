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

    constexpr unsigned int all_lanes = 0xffffffff;
    const unsigned int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(all_lanes, sum, distance);
    }
    if (lane == 0) {
        shared[threadIdx.x / 32] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.

    if (threadIdx.x < 32) {
        sum = lane < warps ? shared[lane] : 0;
        for (unsigned int distance = warps / 2; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(all_lanes, sum, distance);
        }
        if (lane == 0) {
            atomicAdd(result, sum);
        }
    }
}

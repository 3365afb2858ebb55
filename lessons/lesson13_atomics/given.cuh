#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstddef>

namespace cg = cooperative_groups;

/// The obvious loop, from left to right, for a launch of one thread.
__global__ void sequential_reduction(const int* input, int* result, std::size_t n) {
    int sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        sum += input[i];
    }
    *result = sum;
}

/// One thread per element, and one atomic per thread. *result must be 0 before the launch: no block of
/// the kernel can zero it before every other block adds to it.
__global__ void naive_reduction(const int* input, int* result, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

    if (i < n) {
        atomicAdd(result, input[i]);
    }
}

/// An atomic for each warp. *result must be 0 before the launch.
__global__ void warp_reduction(const int* input, int* result, std::size_t n) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

    // All threads of the tile must reach this: those past n contribute 0.
    const int sum = cg::reduce(warp, i < n ? input[i] : 0, cg::plus<int>());
    if (warp.thread_rank() == 0) {
        atomicAdd(result, sum);
    }
}

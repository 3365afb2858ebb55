#pragma once

#include <cooperative_groups.h>
#include <cuda/atomic>

#include <cstddef>
#include <cstdint>

#include "given.cuh"

/// The sum of n ints in one launch of eight blocks, which is enough for up to 2^17. A grid of one cluster.
/// \param sum_and_count 0 before the launch, and 0 again after it
__global__ void small_sum(const int* input, int* result, std::size_t n, unsigned long long* sum_and_count) {
    // TODO, about 30 lines: load every sector of the input once, in a quarter of the requests, and let the
    // blocks meet with at most one atomic per block.
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    int sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
        sum += input[i];
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) {
        // The sum is in the upper half: what overflows there is lost, as in any int's sum, and the count
        // never overflows into it.
        const unsigned long long mine =
            (static_cast<unsigned long long>(static_cast<unsigned int>(sum)) << 32) + 1;
        const cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word(*sum_and_count);
        const unsigned long long all = word.fetch_add(mine, cuda::memory_order_relaxed) + mine;
        if (static_cast<unsigned int>(all) == gridDim.x * (blockDim.x / 32)) { // Every warp is counted.
            *result = static_cast<int>(all >> 32);
            word.store(0, cuda::memory_order_relaxed); // Ready for the next launch.
        }
    }
}

#pragma once

#include <cstddef>

#include "given.cuh"

/// A word of shared memory for each warp's sum, and an atomic in global memory for each block. *result must
/// be 0 before the launch.
__global__ void block_reduction(const int* input, int* result, std::size_t n) {
    __shared__ int warp_sums[32]; // enough for 1,024 threads
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

    int sum = cg::reduce(warp, i < n ? input[i] : 0, cg::plus<int>());
    if (warp.thread_rank() == 0) {
        warp_sums[warp.meta_group_rank()] = sum;
    }
    block.sync(); // Every warp's sum is stored before the first warp reads it.

    if (warp.meta_group_rank() == 0) {
        const unsigned int lane = warp.thread_rank();
        sum = cg::reduce(warp, lane < warp.meta_group_size() ? warp_sums[lane] : 0, cg::plus<int>());
        if (lane == 0) {
            atomicAdd(result, sum);
        }
    }
}

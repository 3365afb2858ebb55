#pragma once

#include <cstddef>

#include "given.cuh"

/// An atomic in shared memory for each warp, and one in global memory for each block. *result must be 0
/// before the launch.
__global__ void block_reduction(const int* input, int* result, std::size_t n) {
    // TODO, about 11 lines: an atomic in global memory for each block, not for each warp. The warps of a
    // block meet in a word of shared memory.
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

    // All threads of the tile must reach this: those past n contribute 0.
    const int sum = cg::reduce(warp, i < n ? input[i] : 0, cg::plus<int>());
    if (warp.thread_rank() == 0) {
        atomicAdd(result, sum);
    }
}

#pragma once

#include <cstddef>

#include "given.cuh"

/// A word of shared memory for each warp's sum, and an atomic in global memory for each block. *result must
/// be 0 before the launch.
__global__ void block_reduction(const int* input, int* result, std::size_t n) {
    // TODO, about 10 lines: a word of shared memory for each warp, in place of one for all. Do without atomics
    // in shared memory, the zero before them, and one of the barriers.
    __shared__ int block_sum;
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

    if (block.thread_rank() == 0) {
        block_sum = 0;
    }
    block.sync(); // The zero is stored before a warp adds to it.

    const int sum = cg::reduce(warp, i < n ? input[i] : 0, cg::plus<int>());
    if (warp.thread_rank() == 0) {
        atomicAdd(&block_sum, sum);
    }
    block.sync(); // Every warp has added before the sum is read.

    if (block.thread_rank() == 0) {
        atomicAdd(result, block_sum);
    }
}

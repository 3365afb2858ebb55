#pragma once

#include <cstddef>

/// Every thread ends with the sum of its block.
/// Shared memory: one int per warp, static. Leaves the block's sum for each element.
template <unsigned int block_size> __global__ void reduce7(const int* input, int* sums, std::size_t n) {
    static_assert(block_size >= 32 && block_size <= 1024 && (block_size & (block_size - 1)) == 0,
                  "whole warps, and halves of halves: a power of two from 32 to 1024");
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * block_size + tid;

    int sum = i < n ? input[i] : 0;

    // TODO, about 15 lines: sum within each warp by shuffles, such that every lane ends with the warp's sum.
    // Then sum over the block's warps, such that every thread ends with the block's sum. The block has one
    // barrier, and shared memory has one word per warp.

    if (i < n) {
        sums[i] = sum;
    }
}

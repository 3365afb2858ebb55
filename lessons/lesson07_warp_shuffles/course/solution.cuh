#pragma once

#include <cstddef>

/// Every thread ends with the sum of its block: pairs of lanes exchange their sums, and every warp adds up
/// the sums of all warps. Shared memory: block_size / 32 ints, static. Leaves the block's sum for each
/// element.
template <unsigned int block_size> __global__ void reduce7(const int* input, int* sums, std::size_t n) {
    static_assert(block_size >= 32 && block_size <= 1024 && (block_size & (block_size - 1)) == 0,
                  "whole warps, and halves of halves: a power of two from 32 to 1024");
    constexpr unsigned int all_lanes = 0xffffffff, warps = block_size / 32;
    __shared__ int warp_sums[warps];
    const unsigned int tid = threadIdx.x;
    const unsigned int warp = tid / 32, lane = tid % 32;
    const std::size_t i = std::size_t{blockIdx.x} * block_size + tid;

    int sum = i < n ? input[i] : 0;

    // All lanes in the mask must arrive here: those past n bring 0.
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(all_lanes, sum, distance);
    }
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before another warp reads it.

    // The lanes hold the sums of all warps, again and again, and each of these groups adds up its own.
    sum = warp_sums[lane % warps];
    for (unsigned int distance = warps / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(all_lanes, sum, distance);
    }

    if (i < n) {
        sums[i] = sum;
    }
}

#pragma once

#include <cstddef>

/// Sums with as few instructions as you find. The input is aligned to 16 bytes; it may have any length.
/// Shared memory: one int per warp. Leaves one partial sum per block.
template <unsigned int block_size>
__global__ void fewest(const int* input, int* partial_sums, std::size_t n) {
    // TODO, about 30 lines: the same sum with fewer instructions, and no more traffic. This is reduce7.
    constexpr unsigned int all_lanes = 0xffffffff, warps = block_size / 32;
    __shared__ int warp_sums[warps];
    const unsigned int tid = threadIdx.x;
    const unsigned int warp = tid / 32, lane = tid % 32;
    const std::size_t grid_stride = std::size_t{gridDim.x} * (2 * block_size);

    int sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * (2 * block_size) + tid; i < n; i += grid_stride) {
        sum += input[i];
        if (i + block_size < n) {
            sum += input[i + block_size];
        }
    }

    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(all_lanes, sum, distance);
    }
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.

    if (warp == 0) {
        sum = lane < warps ? warp_sums[lane] : 0;
        for (unsigned int distance = warps / 2; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(all_lanes, sum, distance);
        }
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = sum;
    }
}

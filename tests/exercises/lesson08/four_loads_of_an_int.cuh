// expect: traffic: global load requests of reduce8: yours {}, goal 32,768
#pragma once

#include <cstddef>
#include <cstdint>

/// Each load brings four ints, 16 bytes: a quarter of the requests. The input may start anywhere and have any
/// length. Shared memory: block_size / 32 ints, static. Leaves one partial sum a block.
template <unsigned int block_size>
__global__ void reduce8(const int* input, int* partial_sums, std::size_t n) {
    static_assert(block_size >= 32 && block_size <= 1024 && (block_size & (block_size - 1)) == 0,
                  "whole warps, and halves of halves: a power of two from 32 to 1024");
    constexpr unsigned int all_lanes = 0xffffffff, warps = block_size / 32;
    __shared__ int warp_sums[warps];
    const unsigned int tid = threadIdx.x;
    const unsigned int warp = tid / 32, lane = tid % 32;
    int sum = 0;
    const std::size_t grid_stride = std::size_t{gridDim.x} * (4 * block_size);
    for (std::size_t i = std::size_t{blockIdx.x} * (4 * block_size) + tid; i < n; i += grid_stride) {
        for (unsigned int k = 0; k < 4; ++k) {
            sum += i + k * block_size < n ? input[i + k * block_size] : 0;
        }
    }

    // All lanes that the mask names must come here: those beyond n bring 0. Lane 0 ends with the warp's sum;
    // what the others end with is of no use.
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

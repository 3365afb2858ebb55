/// An experiment: what does the tree at the end of a block cost, by shared memory and by shuffles, with few blocks and
/// with many? Timed by bench/experiments.cu.
#pragma once

#include <cstddef>

/// reduce6 and reduce7 without what follows their loop. Its sums are wrong on purpose.
template <unsigned int block_size>
__global__ void reduce6_no_tree(const int* input, int* partial_sums, std::size_t n) {
    const unsigned int tid = threadIdx.x;
    const std::size_t grid_stride = std::size_t{gridDim.x} * (2 * block_size);

    int sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * (2 * block_size) + tid; i < n; i += grid_stride) {
        sum += input[i];
        if (i + block_size < n) {
            sum += input[i + block_size];
        }
    }
    // No sum of these elements is so large. But the compiler does not know, and must keep every load.
    if (tid == 0 || sum == 1'234'567'890) {
        partial_sums[blockIdx.x] = sum;
    }
}

/// reduce5, whose threads add two elements each, with the tree of reduce7: a tree for every 512 elements.
template <unsigned int block_size>
__global__ void reduce5_shuffles(const int* input, int* partial_sums, std::size_t n) {
    constexpr unsigned int all_lanes = 0xffffffff, warps = block_size / 32;
    __shared__ int warp_sums[warps];
    const unsigned int tid = threadIdx.x;
    const unsigned int warp = tid / 32, lane = tid % 32;
    const std::size_t i = std::size_t{blockIdx.x} * (2 * block_size) + tid;

    int sum = i < n ? input[i] : 0;
    if (i + block_size < n) {
        sum += input[i + block_size];
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

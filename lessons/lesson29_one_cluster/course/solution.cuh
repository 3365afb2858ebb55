#pragma once

#include <cstddef>

#include "given.cuh"

/// One cluster, the whole grid: the first block reads every warp's sum where it lies, in the shared memory of that
/// warp's block. No block adds up its own: one barrier, that of the cluster, is enough before the read.
__global__ void reduce12(const int* input, int* result, std::size_t n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __shared__ int warp_sums[32];
    __shared__ int first_blocks_sums[32];
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

    int sum = sum_of_warp(sum_of_thread(input, n, thread, std::size_t{gridDim.x} * blockDim.x));
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    cluster.sync(); // Every warp's sum is stored before the first block reads it.

    if (cluster.block_rank() == 0) {
        sum = 0;
        for (unsigned int rank = warp; rank < cluster.num_blocks(); rank += warps) {
            sum += lane < warps ? *cluster.map_shared_rank(&warp_sums[lane], rank) : 0;
        }
        sum = sum_of_block(sum, first_blocks_sums);
        if (threadIdx.x == 0) {
            *result = sum;
        }
    }
    cluster.sync(); // No block ends, and its shared memory with it, before the first block has read its sums.
#endif
}

#pragma once

/// The sum over the warp, in every lane: one instruction from compute capability 8.0 on.
__device__ inline int sum_of_warp(int sum) {
    constexpr unsigned int all_lanes = 0xffffffff;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(all_lanes, sum);
#else
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(all_lanes, sum, distance);
    }
    return sum;
#endif
}

/// The sum over the block, in every lane of its first warp. blockDim.x is a multiple of 32, up to 1024.
/// \param warp_sums 32 ints of shared memory
__device__ inline int sum_of_block(int sum, int* warp_sums) {
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    sum = sum_of_warp(sum);
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.
    if (warp == 0) {
        sum = sum_of_warp(lane < blockDim.x / 32 ? warp_sums[lane] : 0);
    }
    return sum;
}

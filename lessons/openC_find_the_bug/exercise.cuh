#pragma once

#include <cstddef>

// TODO, about 5 lines: each of the five kernels has one bug, and each is right for n = 2^20 in blocks of
// 1,024. Find them with the checkers, and repair them.

/// A tree in shared memory, one int per thread. Leaves one partial sum per block, as all five do.
__global__ void sum_tree(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
            __syncthreads(); // This step's sums are stored before the next step reads them.
        }
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

/// The same tree, with a first addition on the way: two ints per thread.
__global__ void sum_two_loads(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * (2 * blockDim.x) + tid;

    int sum = i < n ? input[i] : 0;
    if (i + blockDim.x <= n) {
        sum += input[i + blockDim.x];
    }
    shared[tid] = sum;
    __syncthreads(); // Every sum of two is stored before another thread reads it.

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

/// A tree down to 32 sums, of which the first warp makes one, with its own barriers.
__global__ void sum_last_warp(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = blockDim.x / 2; stride >= 32; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid < 32) {
        int sum = shared[tid];
        for (unsigned int distance = 16; distance > 0; distance /= 2) {
            sum += shared[tid ^ distance];
            shared[tid] = sum;
            __syncwarp(); // written, then read
        }
        if (tid == 0) {
            partial_sums[blockIdx.x] = sum;
        }
    }
}

/// Each warp makes its sum in registers, and thread 0 adds these up.
__global__ void sum_warps(const int* input, int* partial_sums, std::size_t n) {
    constexpr unsigned int all_lanes = 0xffffffff;
    __shared__ int warp_sums[32];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    int sum = 0;
    if (i < n) {
        sum = input[i];
        for (unsigned int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(all_lanes, sum, distance);
        }
    }
    if (tid % 32 == 0) {
        warp_sums[tid / 32] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before thread 0 reads it.

    if (tid == 0) {
        for (unsigned int warp = 1; warp < blockDim.x / 32; ++warp) {
            sum += warp_sums[warp];
        }
        partial_sums[blockIdx.x] = sum;
    }
}

/// Each warp makes its sum in registers, and the first warp adds these up in the same way.
__global__ void sum_two_levels(const int* input, int* partial_sums, std::size_t n) {
    constexpr unsigned int all_lanes = 0xffffffff;
    __shared__ int warp_sums[32];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    int sum = i < n ? input[i] : 0;
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(all_lanes, sum, distance);
    }
    if (tid % 32 == 0) {
        warp_sums[tid / 32] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.

    if (tid < 32) {
        sum = warp_sums[tid];
        for (unsigned int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(all_lanes, sum, distance);
        }
        if (tid == 0) {
            partial_sums[blockIdx.x] = sum;
        }
    }
}

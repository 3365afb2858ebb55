#pragma once

#include <cstddef>

// Each block sums a segment of the input and adds the sum to *result, which must be 0 before the launch.
// blockDim.x is a power of two.

/// lesson14's blocked_reduction of a segment of 2 * blockDim.x ints. In place: overwrites data.
__global__ void segmented_blocked(int* data, int* result, std::size_t n) {
    const std::size_t segment = std::size_t{blockIdx.x} * (2 * blockDim.x);
    const std::size_t i = segment + 2 * threadIdx.x;

    for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
        if (threadIdx.x % stride == 0 && i + stride < n) {
            data[i] += data[i + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (threadIdx.x == 0 && segment < n) {
        atomicAdd(result, data[segment]);
    }
}

/// lesson14's strided_reduction of a segment of 2 * blockDim.x ints. In place: overwrites data.
__global__ void segmented_strided(int* data, int* result, std::size_t n) {
    const std::size_t segment = std::size_t{blockIdx.x} * (2 * blockDim.x);
    const std::size_t i = segment + threadIdx.x;

    for (unsigned int stride = blockDim.x; stride > 0; stride /= 2) {
        if (threadIdx.x < stride && i + stride < n) {
            data[i] += data[i + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (threadIdx.x == 0 && segment < n) {
        atomicAdd(result, data[segment]);
    }
}

/// lesson14's smem_reduction of a segment of 2 * blockDim.x ints. Shared memory: one int per thread.
__global__ void segmented_smem(const int* data, int* result, std::size_t n) {
    extern __shared__ int shared[];
    const std::size_t segment = std::size_t{blockIdx.x} * (2 * blockDim.x);
    const std::size_t i = segment + threadIdx.x;

    int sum = i < n ? data[i] : 0;
    if (i + blockDim.x < n) {
        sum += data[i + blockDim.x];
    }
    shared[threadIdx.x] = sum;
    __syncthreads(); // Every sum of two is stored before another thread reads it.

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            shared[threadIdx.x] += shared[threadIdx.x + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (threadIdx.x == 0) {
        atomicAdd(result, shared[0]);
    }
}

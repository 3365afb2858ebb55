#pragma once

#include <cstddef>

/// Neighbored pairs, in place in global memory: the input is overwritten. Leaves one partial sum per block.
__global__ void reduceNeighboredGmem(int* data, int* partial_sums, std::size_t n) {
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0 && i + stride < n) {
            data[i] += data[i + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = i < n ? data[i] : 0;
    }
}

/// The same pairs in shared memory, whose size is known to the compiler. Leaves one partial sum per block.
template <unsigned int block_size>
__global__ void reduceNeighboredSmem(const int* input, int* partial_sums, std::size_t n) {
    __shared__ int shared[block_size];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

/// Sequential addressing, the last warp unrolled, in place in global memory: the input is overwritten.
/// Leaves one partial sum per block.
__global__ void reduceGmem(int* data, int* partial_sums, std::size_t n) {
    const unsigned int tid = threadIdx.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
    const std::size_t i = first + tid;
    // What lies from here on is another block's, or nobody's: neither read nor written, it counts as zero.
    const std::size_t end = first + blockDim.x < n ? first + blockDim.x : n;

    for (unsigned int stride = blockDim.x / 2; stride > 32; stride /= 2) {
        if (tid < stride && i + stride < end) {
            data[i] += data[i + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    // One warp is left: all of its lanes add in every step, and reload both words.
    if (tid < 32) {
#pragma unroll
        for (unsigned int stride = 32; stride > 0; stride /= 2) {
            const bool has_partner = i + stride < end;
            const int sum = has_partner ? data[i] + data[i + stride] : 0;
            __syncwarp(); // Every lane has read before another one overwrites.
            if (has_partner) {
                data[i] = sum;
            }
            __syncwarp(); // This step's sums are stored before the next step reads them.
        }
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = i < n ? data[i] : 0;
    }
}

#pragma once

#include <cstddef>

/// reduceSmem with one int of dynamic shared memory per thread. Leaves one partial sum per block.
__global__ void reduceSmemDyn(const int* input, int* partial_sums, std::size_t n) {
    // TODO, about 5 lines: the launch says how many threads a block has, and asks for an int of shared memory
    // for each. Do without a size that is written down here.
    constexpr unsigned int block_size = 256;
    __shared__ int shared[block_size];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * block_size + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = block_size / 2; stride > 32; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    // One warp is left: all of its lanes add in every step, and reload both words.
    if (tid < 32) {
#pragma unroll
        for (unsigned int stride = 32; stride > 0; stride /= 2) {
            const bool has_partner = tid + stride < block_size;
            const int sum = has_partner ? shared[tid] + shared[tid + stride] : 0;
            __syncwarp(); // Every lane has read before another one overwrites.
            if (has_partner) {
                shared[tid] = sum;
            }
            __syncwarp(); // This step's sums are stored before the next step reads them.
        }
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

/// reduceSmemUnroll with one int of dynamic shared memory per thread. Leaves one partial sum per block.
__global__ void reduceSmemUnrollDyn(const int* input, int* partial_sums, std::size_t n) {
    // TODO, about 10 lines: the same here.
    constexpr unsigned int block_size = 256;
    __shared__ int shared[block_size];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * (4 * block_size) + tid;

    // Each load has its own guard: the input may end before any of them.
    int four = i < n ? input[i] : 0;
    if (i + block_size < n) {
        four += input[i + block_size];
    }
    if (i + 2 * block_size < n) {
        four += input[i + 2 * block_size];
    }
    if (i + 3 * block_size < n) {
        four += input[i + 3 * block_size];
    }
    shared[tid] = four;
    __syncthreads(); // Every sum of four is stored before another thread reads it.

    for (unsigned int stride = block_size / 2; stride > 32; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    // One warp is left: all of its lanes add in every step, and reload both words.
    if (tid < 32) {
#pragma unroll
        for (unsigned int stride = 32; stride > 0; stride /= 2) {
            const bool has_partner = tid + stride < block_size;
            const int sum = has_partner ? shared[tid] + shared[tid + stride] : 0;
            __syncwarp(); // Every lane has read before another one overwrites.
            if (has_partner) {
                shared[tid] = sum;
            }
            __syncwarp(); // This step's sums are stored before the next step reads them.
        }
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

#pragma once

#include <cstddef>

/// reduceSmem with one int of dynamic shared memory per thread. Leaves one partial sum per block.
__global__ void reduceSmemDyn(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = blockDim.x / 2; stride > 32; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    // One warp is left: all of its lanes add in every step, and reload both words.
    if (tid < 32) {
#pragma unroll
        for (unsigned int stride = 32; stride > 0; stride /= 2) {
            const bool has_partner = tid + stride < blockDim.x;
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

/// reduceSmemUnroll with one int of dynamic shared memory per thread. One warp adds up all words, in rows of 32:
/// the block needs a single barrier. Leaves one partial sum per block.
__global__ void reduceSmemUnrollDyn(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * (4 * blockDim.x) + tid;

    // Each load has its own guard: the input may end before any of them.
    int four = i < n ? input[i] : 0;
    if (i + blockDim.x < n) {
        four += input[i + blockDim.x];
    }
    if (i + 2 * blockDim.x < n) {
        four += input[i + 2 * blockDim.x];
    }
    if (i + 3 * blockDim.x < n) {
        four += input[i + 3 * blockDim.x];
    }
    shared[tid] = four;
    __syncthreads(); // Every sum of four is stored before another thread reads it.

    // One warp takes all words: each of its lanes one word of each row, and then a tree of 32 words.
    if (tid < 32) {
        int column = 0;
        for (unsigned int word = tid; word < blockDim.x; word += 32) {
            column += shared[word];
        }
        shared[tid] = column;
        __syncwarp(); // Every column's sum is stored before another lane reads it.
#pragma unroll
        for (unsigned int stride = 16; stride > 0; stride /= 2) {
            const bool has_partner = tid + stride < 32;
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

/// An experiment: what does unrolling gain, and what could a tree gain that costs nothing? Timed by
/// bench/experiments.cu.
#pragma once

#include <cstddef>

/// reduce3 with a block size that the compiler knows: all eight steps unrolled, every guard and barrier kept.
template <unsigned int block_size>
__global__ void reduce3_unrolled(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * (2 * block_size) + tid;

    int sum = i < n ? input[i] : 0;
    if (i + block_size < n) {
        sum += input[i + block_size];
    }
    shared[tid] = sum;
    __syncthreads(); // Every sum of two is stored before another thread reads it.

#pragma unroll
    for (unsigned int stride = block_size / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

/// The loads of reduce3, reduce4 and reduce5, and no tree. Its sums are wrong on purpose.
template <unsigned int block_size>
__global__ void reduce5_no_tree(const int* input, int* partial_sums, std::size_t n) {
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * (2 * block_size) + tid;

    int sum = i < n ? input[i] : 0;
    if (i + block_size < n) {
        sum += input[i + block_size];
    }
    // No sum of two elements is so large. But the compiler does not know, and must keep every load.
    if (tid == 0 || sum == 1'234'567'890) {
        partial_sums[blockIdx.x] = sum;
    }
}

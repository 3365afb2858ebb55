#pragma once

#include <cstddef>

#include "given.cuh"

/// Adds a value to a thread's words, word[0], word[stride], ... A word takes less than 2^32 from each value,
/// so it holds the sum of 2^31 values.
__device__ void add(float value, long long* word, unsigned int stride, unsigned int* found) {
    const unsigned int bits = __float_as_uint(value);
    const unsigned int exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    const bool negative = bits >> 31;

    if (exponent == 0xff) {
        atomicOr(found, fraction > 0 ? not_a_number : negative ? minus_infinity : infinity);
        return;
    }
    // TODO, about 8 lines: add the value, as a whole number of units of 2^-149, to two words. Not this.
    word[0] += static_cast<long long>(value);
}

/// Adds all elements to *sum. Dynamic shared memory: `words` of 8 bytes per thread. Word k of the threads
/// lies side by side, so that each thread has its own banks, whatever word it needs. A thread may have
/// 2^31 elements, and the grid 2^31 threads: after carry(), each adds less than 2^32 to a word again.
__global__ void sum_reproducible(const float* input, ExactSum* sum, std::size_t n) {
    extern __shared__ long long of_threads[];
    const unsigned int tid = threadIdx.x;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;
    long long* const mine = of_threads + tid;

    for (unsigned int k = 0; k < words; ++k) {
        mine[k * blockDim.x] = 0;
    }
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid; i < n; i += grid_threads) {
        add(input[i], mine, blockDim.x, &sum->found);
    }
    carry(mine, blockDim.x, words);
    __syncthreads(); // The words of all threads are there before a warp adds them up.

    // TODO, about 12 lines: add up each word over the block's threads, a warp per word, and add these sums to
    // sum->word with one atomic per word. Not this.
    if (tid == 0) {
        for (unsigned int k = 0; k < words; ++k) {
            atomicAdd(&sum->word[k], static_cast<unsigned long long>(mine[k * blockDim.x]));
        }
    }
}

/// Rounds a sum. One thread.
__global__ void round_sum(const ExactSum* sum, float* result) { *result = rounded(*sum); }

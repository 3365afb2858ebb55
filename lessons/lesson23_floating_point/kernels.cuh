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
    // mantissa << shift is the value in units. A subnormal number has no hidden bit, and the smallest shift.
    const unsigned int mantissa = exponent > 0 ? fraction | 0x800000 : fraction;
    const unsigned int shift = exponent > 0 ? exponent - 1 : 0;
    const long long placed = static_cast<long long>(mantissa) << shift % 32; // less than 2^55: two words
    const long long low = placed & 0xffffffff, high = placed >> 32;

    word[shift / 32 * stride] += negative ? -low : low;
    word[(shift / 32 + 1) * stride] += negative ? -high : high;
}

/// Adds all elements to *sum. Dynamic shared memory: `words` of 8 bytes per thread. Word k of the threads
/// lies side by side, so that each thread has its own banks, whatever word it needs. A thread may have
/// 2^31 elements, and the grid 2^31 threads: after carry(), each adds less than 2^32 to a word again.
__global__ void sum_reproducible(const float* input, ExactSum* sum, std::size_t n) {
    extern __shared__ long long of_threads[];
    const unsigned int tid = threadIdx.x, lane = tid % 32;
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

    for (unsigned int k = tid / 32; k < words; k += blockDim.x / 32) { // a warp per word
        long long of_block = 0;
        for (unsigned int thread = lane; thread < blockDim.x; thread += 32) {
            of_block += of_threads[k * blockDim.x + thread];
        }
        for (unsigned int offset = 16; offset > 0; offset /= 2) {
            of_block += __shfl_down_sync(0xffffffff, of_block, offset);
        }
        if (lane == 0) {
            atomicAdd(&sum->word[k], static_cast<unsigned long long>(of_block));
        }
    }
}

/// Rounds a sum. One thread.
__global__ void round_sum(const ExactSum* sum, float* result) { *result = rounded(*sum); }

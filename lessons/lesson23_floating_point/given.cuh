#pragma once

#include "trees.cuh"

#include <cstddef>

/// Leaves one partial sum per block, which further launches add up in the same way.
__global__ void sum_tree(const float* input, float* partial_sums, std::size_t n) {
    const float sum = sum_block<float>(input, n);
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = sum;
    }
}

/// One launch. The blocks' sums are added in the order in which the blocks come. *result is 0 before the
/// launch.
__global__ void sum_atomic(const float* input, float* result, std::size_t n) {
    const float sum = sum_block<float>(input, n);
    if (threadIdx.x == 0) {
        atomicAdd(result, sum);
    }
}

// A sum that is the same to the bit for any grid, block and device. A float is a whole number of units of
// 2^-149, the smallest one above 0. The kernel adds these numbers in integers, and adding integers is
// associative: nothing is lost, and the order is no part of the result. It is rounded once, at the end.

/// Words that hold any sum. A word holds 32 bits of it, and word k counts units of 2^(32 k - 149). The
/// largest float has its highest bit at 2^127, which is bit 276, in word 8. The rest of word 8 is for the
/// sum's growth.
constexpr unsigned int words = 9;

/// What was among the elements besides finite numbers.
enum Found : unsigned int { infinity = 1, minus_infinity = 2, not_a_number = 4 };

/// Where the blocks meet, in global memory: all of it 0 before the launch.
struct ExactSum {
    unsigned long long word[words]; ///< signed sums; atomicAdd wants them unsigned
    unsigned int found;
};

/// Leaves 32 bits in each word, and hands the rest to the next one. The last word keeps the sign.
__device__ inline void carry(long long* word, unsigned int stride, unsigned int count) {
    long long above = 0;
    for (unsigned int k = 0; k + 1 < count; ++k) {
        const long long sum = word[k * stride] + above;
        word[k * stride] = sum & 0xffffffff;
        above = sum >> 32; // rounds down: what stays in word k is not negative
    }
    word[(count - 1) * stride] += above;
}

/// The nearest float to a sum, and the even one of two. A sum of 0 is +0; too large a sum is infinite.
__device__ inline float rounded(const ExactSum& sum) {
    if (sum.found != 0) {
        const unsigned int bits = sum.found == infinity         ? 0x7f800000
                                  : sum.found == minus_infinity ? 0xff800000
                                                                : 0x7fffffff; // also infinity - infinity
        return __uint_as_float(bits);
    }
    long long word[words + 1] = {}; // Word 8 may have more than 32 bits.
    for (unsigned int k = 0; k < words; ++k) {
        word[k] = static_cast<long long>(sum.word[k]);
    }
    word[words] = word[words - 1] >> 32;
    word[words - 1] &= 0xffffffff;
    carry(word, 1, words + 1);
    const bool negative = word[words] < 0;
    if (negative) {
        for (long long& digits : word) {
            digits = -digits;
        }
        carry(word, 1, words + 1);
    }

    unsigned int top = words; // the highest word that is not 0, or 1
    while (top > 1 && word[top] == 0) {
        --top;
    }
    bool more_below = false;
    for (unsigned int k = 0; k + 1 < top; ++k) {
        more_below |= word[k] != 0;
    }
    const auto window = static_cast<unsigned long long>(word[top] << 32 | word[top - 1]);
    const int zeros = __clzll(window);
    auto bits = static_cast<unsigned int>(window); // Below 2^24, a number of units is the bits of its float.
    if (zeros < 40) {
        const unsigned int dropped = 40 - zeros, shift = 32 * (top - 1) + dropped; // 24 bits are kept
        const unsigned long long rest = window << (24 + zeros), half = 1ull << 63;
        const auto kept = static_cast<unsigned int>(window >> dropped);
        const bool up = rest > half || (rest == half && (more_below || kept % 2 == 1));
        bits = min((shift << 23) + kept + up, 0x7f800000); // The hidden bit raises the exponent by one.
    }
    return __uint_as_float(bits | (negative ? 0x80000000 : 0));
}

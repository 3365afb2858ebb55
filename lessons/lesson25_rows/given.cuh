#pragma once

#include <cmath>
#include <cstddef>

// The softmax of each row of a matrix: output[i] = exp(input[i]) / the sum of exp over the row. Every
// exponent has the row's maximum subtracted, which changes no quotient: exp(input[i] - max) is at most 1.
//
// One block per row of `columns` floats, at least one. blockDim.x is a multiple of 32. An element of -inf
// becomes 0. A row without a softmax is NaN throughout: one with NaN or +inf, or of nothing but -inf.

/// The value of op over the whole block, in every thread. All threads take part.
/// identity: what changes no other value. of_warps: 32 floats of shared memory
template <class Op> __device__ float reduce_block(float value, float identity, float* of_warps, Op op) {
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        value = op(value, __shfl_xor_sync(0xffffffff, value, distance));
    }
    if (threadIdx.x % 32 == 0) {
        of_warps[threadIdx.x / 32] = value;
    }
    __syncthreads(); // Every warp's value is stored before a warp loads it.
    // Each warp does this for itself, so that every thread has the result without another barrier.
    value = threadIdx.x % 32 < blockDim.x / 32 ? of_warps[threadIdx.x % 32] : identity;
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        value = op(value, __shfl_xor_sync(0xffffffff, value, distance));
    }
    return value;
}

/// Loads the row three times: for its maximum, for the sum, and for the quotients.
__global__ void softmax_three_passes(const float* input, float* output, std::size_t columns) {
    __shared__ float maxima[32], sums[32];
    const std::size_t first = std::size_t{blockIdx.x} * columns; // of the row

    float max = -INFINITY;
    for (std::size_t col = threadIdx.x; col < columns; col += blockDim.x) {
        max = fmaxf(max, input[first + col]);
    }
    max = reduce_block(max, -INFINITY, maxima, [](float a, float b) { return fmaxf(a, b); });

    float sum = 0;
    for (std::size_t col = threadIdx.x; col < columns; col += blockDim.x) {
        sum += expf(input[first + col] - max);
    }
    sum = reduce_block(sum, 0, sums, [](float a, float b) { return a + b; });

    for (std::size_t col = threadIdx.x; col < columns; col += blockDim.x) {
        output[first + col] = expf(input[first + col] - max) / sum;
    }
}

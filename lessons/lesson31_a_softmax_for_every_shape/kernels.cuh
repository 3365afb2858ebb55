#pragma once

#include <cmath>
#include <cstddef>

// The kernel of exercise 31. Those of softmax() are in softmax.cuh, which needs no other file.

/// The value of op over the warp, in every lane.
template <class Op> __device__ float reduce_warp(float value, Op op) {
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        value = op(value, __shfl_xor_sync(0xffffffff, value, distance));
    }
    return value;
}

/// The softmax of each row, a warp per row of at most 1,024 floats. Loads the row once: a lane keeps its
/// elements, 32 at most, in registers. The bound leaves room for blocks of 1,024 threads.
__global__ void __launch_bounds__(1024)
    softmax_in_registers(const float* input, float* output, std::size_t rows, std::size_t columns) {
    constexpr unsigned int per_lane = 32;
    const std::size_t row = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
    const unsigned int lane = threadIdx.x % 32;
    if (row >= rows) return; // The whole warp: its lanes meet in the shuffles.
    const std::size_t first = row * columns;

    float values[per_lane], max = -INFINITY;
#pragma unroll
    for (unsigned int k = 0; k < per_lane; ++k) {
        const std::size_t col = lane + 32 * k;
        values[k] = col < columns ? input[first + col] : -INFINITY; // changes neither maximum nor sum
        max = fmaxf(max, values[k]);
    }
    max = reduce_warp(max, [](float a, float b) { return fmaxf(a, b); });

    const float subtracted = max == -INFINITY ? 0 : max; // -inf - -inf would be NaN
    float sum = 0;
#pragma unroll
    for (unsigned int k = 0; k < per_lane; ++k) {
        values[k] = expf(values[k] - subtracted);
        sum += values[k];
    }
    sum = reduce_warp(sum, [](float a, float b) { return a + b; });

#pragma unroll
    for (unsigned int k = 0; k < per_lane; ++k) {
        const std::size_t col = lane + 32 * k;
        if (col < columns) {
            output[first + col] = values[k] / sum;
        }
    }
}

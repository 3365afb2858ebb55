#pragma once

#include <cstddef>

#include "given.cuh"

/// A part of a row: its maximum, and the sum of exp(element - max) over its elements.
struct Part {
    float max, sum;
};

/// Loads the row twice: maximum and sum in one pass. Whenever the maximum grows, the sum is rescaled.
__global__ void softmax_online(const float* input, float* output, std::size_t columns) {
    __shared__ float maxima[32], sums[32];
    const std::size_t first = std::size_t{blockIdx.x} * columns; // of the row

    // TODO, about 30 lines: find the maximum and the sum in one pass. Write a function that merges two parts.
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

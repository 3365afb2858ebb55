#pragma once

#include <cstddef>

#include "given.cuh"

/// A part of a row: its maximum, and the sum of exp(element - max) over its elements.
struct Part {
    float max, sum;
};

/// exp(from - to), by which a sum relative to `from` becomes one relative to `to`. A part without a finite
/// element weighs nothing: -inf - -inf would be NaN.
__device__ float weight(float from, float to) { return from == -INFINITY ? 0 : expf(from - to); }

/// Both parts in one. As associative as a sum is: parts may be merged in any order.
__device__ Part merge(Part a, Part b) {
    const float max = fmaxf(a.max, b.max);
    return {max, a.sum * weight(a.max, max) + b.sum * weight(b.max, max)};
}

/// The part of the whole warp, in every lane.
__device__ Part merge_warp(Part part) {
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        part = merge(part, {__shfl_xor_sync(0xffffffff, part.max, distance),
                            __shfl_xor_sync(0xffffffff, part.sum, distance)});
    }
    return part;
}

/// Loads the row twice: maximum and sum in one pass. Whenever the maximum grows, the sum is rescaled.
__global__ void softmax_online(const float* input, float* output, std::size_t columns) {
    __shared__ float maxima[32], sums[32];
    const std::size_t first = std::size_t{blockIdx.x} * columns; // of the row
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    Part part = {-INFINITY, 0};
    for (std::size_t col = threadIdx.x; col < columns; col += blockDim.x) {
        part = merge(part, {input[first + col], 1});
    }
    part = merge_warp(part);
    if (lane == 0) {
        maxima[warp] = part.max;
        sums[warp] = part.sum;
    }
    __syncthreads(); // Every warp's part is stored before a warp loads it.
    // Each warp does this for itself, so that every thread has the result without another barrier.
    const bool is_warp = lane < blockDim.x / 32;
    const Part row = merge_warp({is_warp ? maxima[lane] : -INFINITY, is_warp ? sums[lane] : 0});

    for (std::size_t col = threadIdx.x; col < columns; col += blockDim.x) {
        output[first + col] = expf(input[first + col] - row.max) / row.sum;
    }
}

#pragma once

#include <cstddef>

#include "given.cuh"

/// The first launch: the range of each block's part, the least element in x and the largest one in y.
__global__ void range_of_blocks(const float* input, std::size_t n, float2* values) {
    // TODO, about 10 lines: load each element once. One operation can do both, and reduce_block needs one
    // call.
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;
    float2 range;
    range.x = reduce_block<Min<float>>(reduce_thread<float, Min<float>>(input, n, thread, grid_threads));
    range.y = reduce_block<Max<float>>(reduce_thread<float, Max<float>>(input, n, thread, grid_threads));
    if (threadIdx.x == 0) {
        values[blockIdx.x] = range;
    }
}

/// The second launch, one block: the range of their ranges.
__global__ void range_of_values(const float2* values, unsigned int count, float2* result) {
    float2 range = make_float2(highest<float>, lowest<float>);
    for (unsigned int b = threadIdx.x; b < count; b += blockDim.x) {
        range.x = fminf(range.x, values[b].x);
        range.y = fmaxf(range.y, values[b].y);
    }
    range.x = reduce_block<Min<float>>(range.x);
    range.y = reduce_block<Max<float>>(range.y);
    if (threadIdx.x == 0) {
        *result = range;
    }
}

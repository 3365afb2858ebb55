#pragma once

#include <cstddef>

#include "given.cuh"

/// The operation of exercise 33: the least element and the largest one, in x and y.
struct Range {
    using Value = float2;
    __host__ __device__ static Value identity() { return {highest<float>, lowest<float>}; }
    __device__ static Value of(float element, std::size_t) { return {element, element}; }
    __device__ Value operator()(Value a, Value b) const { return {fminf(a.x, b.x), fmaxf(a.y, b.y)}; }
};

/// The first launch: the range of each block's part.
__global__ void range_of_blocks(const float* input, std::size_t n, float2* values) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;
    const float2 range = reduce_block<Range>(reduce_thread<float, Range>(input, n, thread, grid_threads));
    if (threadIdx.x == 0) {
        values[blockIdx.x] = range;
    }
}

/// The second launch, one block: the range of their ranges.
__global__ void range_of_values(const float2* values, unsigned int count, float2* result) {
    float2 range = Range::identity();
    for (unsigned int b = threadIdx.x; b < count; b += blockDim.x) {
        range = Range()(range, values[b]);
    }
    range = reduce_block<Range>(range);
    if (threadIdx.x == 0) {
        *result = range;
    }
}

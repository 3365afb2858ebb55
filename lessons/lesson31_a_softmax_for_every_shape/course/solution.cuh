#pragma once

#include <cmath>
#include <cstddef>

/// The value of op over the warp, in every lane.
template <class Op> __device__ float reduce_warp(float value, Op op) {
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        value = op(value, __shfl_xor_sync(0xffffffff, value, distance));
    }
    return value;
}

/// The softmax of rows of 4 to 128 floats, a multiple of 4. As many lanes per row as it has vectors, rounded up to a
/// power of two: a warp has several rows, and each lane one vector.
__device__ void softmax_of_short_rows(const float* input, float* output, std::size_t rows,
                                      std::size_t columns) {
    unsigned int lanes = 1;
    while (4 * lanes < columns) {
        lanes *= 2;
    }
    const std::size_t row = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / lanes;
    const unsigned int lane = threadIdx.x % lanes;
    const bool has_vector = row < rows && 4 * lane < columns; // The others shuffle, too.
    const std::size_t vector = row * (columns / 4) + lane;

    float4 four = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    if (has_vector) {
        four = reinterpret_cast<const float4*>(input)[vector];
    }
    float max = fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w));
    for (unsigned int distance = lanes / 2; distance > 0; distance /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffff, max, distance));
    }
    const float subtracted = max == -INFINITY ? 0 : max; // -inf - -inf would be NaN
    four = make_float4(expf(four.x - subtracted), expf(four.y - subtracted), expf(four.z - subtracted),
                       expf(four.w - subtracted));
    float sum = four.x + four.y + four.z + four.w;
    for (unsigned int distance = lanes / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    }
    if (has_vector) {
        reinterpret_cast<float4*>(output)[vector] =
            make_float4(four.x / sum, four.y / sum, four.z / sum, four.w / sum);
    }
}

/// The softmax of each row, a warp per row of at most 1,024 floats. Loads the row once: a lane keeps its
/// elements, 32 at most, in registers. The bound leaves room for blocks of 1,024 threads.
__global__ void __launch_bounds__(1024)
    softmax_in_registers(const float* input, float* output, std::size_t rows, std::size_t columns) {
    if (columns % 4 == 0 && columns <= 128) {
        softmax_of_short_rows(input, output, rows, columns);
        return;
    }
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

#pragma once

#include <cstddef>
#include <cstdint>

#include "given.cuh"

constexpr unsigned int block_copies = 8; // of the histogram

/// Four loads of 16 bytes per thread are in flight at a time. A block has `copies` histograms, side by side:
/// copy c of bin b is word `copies` * b + c. So lanes that want the same bank are few, whatever the data:
/// with eight copies, four lanes share one.
template <unsigned int copies>
__global__ void histogram_vectors(const int* input, int* histogram, std::size_t n) {
    __shared__ int counts[bins * copies];
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;

    for (unsigned int word = threadIdx.x; word < bins * copies; word += blockDim.x) {
        counts[word] = 0;
    }
    __syncthreads(); // Every count is 0 before a thread adds to one.

    // The vectors start at a line of 128 bytes. Up to 31 ints come before, and up to three are left.
    constexpr std::size_t line = 128 / sizeof(int);
    const std::size_t to_line = (line - reinterpret_cast<std::uintptr_t>(input) / sizeof(int) % line) % line;
    const std::size_t head = to_line < n ? to_line : n;
    const std::size_t vectors = (n - head) / 4;
    const int4* const body = reinterpret_cast<const int4*>(input + head);
    const int* const tail = input + head + 4 * vectors;
    int* const own = counts + threadIdx.x % copies;
    const auto count = [own](int element) { atomicAdd(&own[bin_of(element) * copies], 1); };

    for (std::size_t i = thread; i < vectors; i += 4 * grid_threads) {
        int4 four[4];
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            four[k] = i + k * grid_threads < vectors ? body[i + k * grid_threads] : int4{};
        }
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            if (i + k * grid_threads < vectors) {
                count(four[k].x);
                count(four[k].y);
                count(four[k].z);
                count(four[k].w);
            }
        }
    }
    if (thread < head) {
        count(input[thread]);
    }
    if (thread < (n - head) % 4) {
        count(tail[thread]);
    }
    __syncthreads(); // Every element is counted before a count is read.

    for (unsigned int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        int sum = 0;
        for (unsigned int copy = 0; copy < copies; ++copy) {
            sum += counts[bin * copies + (copy + bin * copies / 32) % copies]; // each lane in another bank
        }
        atomicAdd(&histogram[bin], sum);
    }
}

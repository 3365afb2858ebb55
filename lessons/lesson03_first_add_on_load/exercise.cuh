#pragma once

#include <cstddef>

/// Each thread loads four elements and adds them on the way in: a quarter of the blocks.
/// Shared memory: one int per thread. Leaves one partial sum per block.
__global__ void reduce3(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;

    // TODO, about 8 lines: a block now has four times as many elements as it has threads. Let each thread
    // load four of them and store their sum. Any n is allowed, and the loads of a warp stay side by side.
    const std::size_t i = std::size_t{blockIdx.x} * (2 * blockDim.x) + tid;
    int sum = i < n ? input[i] : 0;
    if (i + blockDim.x < n) {
        sum += input[i + blockDim.x];
    }
    shared[tid] = sum;
    __syncthreads(); // Every sum of four is stored before another thread reads it.

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

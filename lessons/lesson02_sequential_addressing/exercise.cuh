#pragma once

#include <cstddef>

/// The stride halves from step to step, so that neighboring lanes use neighboring words: no bank conflicts.
/// A thread keeps its own sum in a register, and loads only what another thread has stored.
/// Shared memory: one int per thread. Leaves one partial sum per block.
__global__ void reduce2(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    // TODO, about 6 lines: keep the thread's sum in a register, a local variable, from its element to the end.
    // Load no word that the thread itself has stored.
    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

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

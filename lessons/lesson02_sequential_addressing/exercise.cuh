#pragma once

#include <cstddef>

/// The stride halves from step to step, so that neighboring lanes use neighboring words: no bank conflicts.
/// A thread keeps its own sum in a register, and loads only what another thread has stored.
/// Shared memory: one int per thread. Leaves one partial sum per block.
__global__ void reduce2(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    // TODO, about 8 lines: turn the tree around. The threads that add stay the same in each step, but the
    // words that they read have to lie side by side, and so do those that they write. Load no word that the
    // thread itself has stored: its sum is in a register, from its element to the end.
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned int index = 2 * stride * tid;
        if (index < blockDim.x) {
            shared[index] += shared[index + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

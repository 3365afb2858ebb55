#pragma once

#include <cstddef>

#include "given.cuh"

/// The same tree in shared memory, whose size is known to the compiler. Leaves one partial sum per block.
template <unsigned int block_size>
__global__ void reduceSmem(const int* input, int* partial_sums, std::size_t n) {
    __shared__ int shared[block_size];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    // TODO, about 19 lines: the tree of reduceGmem, the one warp at its end included, in shared memory. Each
    // word of the block has been stored, so that its guards against the end of the input have nothing left to
    // guard.
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

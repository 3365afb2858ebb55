/// An experiment: what does the remainder cost, and what does it cost that the lanes of a warp disagree? Timed by
/// bench/experiments.cu.
#pragma once

#include <cstddef>

/// The loop of reduce0, or of reduce0a without `remainder`. Its sums are wrong on purpose: others[stride] is no
/// partial sum, but a word that nobody stores to after the first barrier. So no two threads meet, whichever add.
/// Shared memory: two ints per thread.
/// \param chosen_by -1: each thread chooses for itself, as in reduce0. -32: the first thread of a warp chooses for
/// all, so that they agree. The same warps add in both cases, with the same machine code.
template <bool remainder>
__global__ void choose_adders(const int* input, int* partial_sums, std::size_t n, unsigned int chosen_by) {
    extern __shared__ int shared[];
    int* const others = shared + blockDim.x;
    const unsigned int tid = threadIdx.x;
    const unsigned int chooser = tid & chosen_by;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    const int element = i < n ? input[i] : 0;
    shared[tid] = element;
    others[tid] = element;
    __syncthreads(); // Every element is stored before another thread reads it.

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (remainder ? chooser % (2 * stride) == 0 : (chooser & (2 * stride - 1)) == 0) {
            shared[tid] += others[stride];
        }
        __syncthreads(); // For its cost: no thread reads what another one stores here.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

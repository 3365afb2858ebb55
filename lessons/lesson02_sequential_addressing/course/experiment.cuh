/// An experiment: reduce1 has bank conflicts and more instructions than reduce2. Which of them costs how much? Timed
/// by bench/experiments.cu.
#pragma once

#include <cstddef>

/// reduce1 with a cheaper index: it doubles from step to step, and nothing multiplies. All conflicts stay.
__global__ void reduce1_doubled(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    unsigned int index = 2 * tid;
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        if (index < blockDim.x) {
            shared[index] += shared[index + stride];
        }
        index *= 2;      // at most 2^11 x tid
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

/// One machine code for both trees. The arguments choose the addresses, and nothing else:
///
///     spread 1, distance 1, turn 1                   the words of reduce1, with its conflicts
///     spread 0, distance blockDim.x / 2, turn 31     the words of reduce2
///
/// \param spread by how much the first word of an adder moves to the left in each step \param distance from the first
/// word to the second one, in the first step \param turn by how much it is rotated to the left in each step
__global__ void either_order(const int* input, int* partial_sums, std::size_t n, unsigned int spread,
                             unsigned int distance, unsigned int turn) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads(); // Every element is stored before another thread reads it.

    unsigned int index = tid << spread;
    for (unsigned int adders = blockDim.x / 2; adders > 0; adders /= 2) {
        if (tid < adders) {
            shared[index] += shared[index + distance];
        }
        index <<= spread;
        distance = __funnelshift_l(distance, distance, turn);
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

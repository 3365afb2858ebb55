/// An experiment: in the last six steps of reduce3 one warp adds. The others wait at barriers, and their shared loads
/// and stores are executed for no lane. Which of them costs how much? Timed by bench/experiments.cu.
#pragma once

#include <cstddef>

/// reduce3, but for its last six steps. \tparam block_barriers the block meets after each of them, as in reduce3; if
/// not, only the warp that adds \tparam idle_accesses all warps execute them, as in reduce3; if not, one warp does
/// Without both it is reduce4, not unrolled.
template <bool block_barriers, bool idle_accesses>
__global__ void last_six_steps(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * (2 * blockDim.x) + tid;

    int sum = i < n ? input[i] : 0;
    if (i + blockDim.x < n) {
        sum += input[i + blockDim.x];
    }
    shared[tid] = sum;
    __syncthreads(); // Every sum of two is stored before another thread reads it.

    unsigned int stride = blockDim.x / 2;
    for (; stride > 32; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (block_barriers || idle_accesses || tid < 32) {
#pragma unroll 1
        for (; stride > 0; stride /= 2) {
            if (idle_accesses || tid < 32) {
                if (tid < stride) {
                    shared[tid] += shared[tid + stride];
                }
                __syncwarp(); // Here one warp writes and reads: this barrier is enough.
            }
            if (block_barriers) {
                __syncthreads();
            }
        }
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

#pragma once

#include <cstddef>

__device__ inline int sum_of(int4 four) { return four.x + four.y + four.z + four.w; }

/// The sum over the warp, in every lane: one instruction from compute capability 8.0 on, in place of five
/// shuffles and five additions.
__device__ inline int sum_of_warp(int sum) {
    constexpr unsigned int all_lanes = 0xffffffff;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(all_lanes, sum);
#else
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(all_lanes, sum, distance);
    }
    return sum;
#endif
}

/// Sums with as few instructions as we found. The input is aligned to 16 bytes; it may have any length.
/// Shared memory: one int per warp. Leaves one partial sum per block.
template <unsigned int block_size>
__global__ void fewest(const int* input, int* partial_sums, std::size_t n) {
    constexpr unsigned int warps = block_size / 32, unrolled = 16;
    __shared__ int warp_sums[warps];
    const unsigned int tid = threadIdx.x;
    const int4* body = reinterpret_cast<const int4*>(input);
    const std::size_t vectors = n / 4;

    // A block takes stretches of 16 vectors per thread. All 16 loads have the same address register, and how
    // far they lie from it stands in the instruction: one addition, one comparison and one branch for 16
    // loads and 64 sums.
    constexpr std::size_t stretch = block_size * unrolled;
    const std::size_t whole_stretches = vectors / stretch;
    int sum = 0;
    for (std::size_t s = blockIdx.x; s < whole_stretches; s += gridDim.x) {
        const int4* mine = body + s * stretch + tid;
#pragma unroll
        for (unsigned int k = 0; k < unrolled; ++k) {
            sum += sum_of(mine[k * block_size]);
        }
    }

    // What is left is shorter than a stretch, and the last block's. It has at most 3 ints past its last
    // vector.
    if (blockIdx.x == gridDim.x - 1) {
        for (std::size_t i = whole_stretches * stretch + tid; i < vectors; i += block_size) {
            sum += sum_of(body[i]);
        }
        if (tid < n % 4) {
            sum += input[vectors * 4 + tid];
        }
    }

    sum = sum_of_warp(sum);
    if (tid % 32 == 0) {
        warp_sums[tid / 32] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.
    if (tid < 32) {
        sum = sum_of_warp(tid < warps ? warp_sums[tid] : 0);
        if (tid == 0) {
            partial_sums[blockIdx.x] = sum;
        }
    }
}

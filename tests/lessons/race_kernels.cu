// The kernels as PTX, for race_test.cpp, and some that race.
#include "../../lessons/lesson00_interleaved_pairs/kernels.cuh"
#include "../../lessons/lesson01_strided_index/kernels.cuh"
#include "../../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "../../lessons/lesson03_first_add_on_load/kernels.cuh"
#include "../../lessons/lesson04_unroll_last_warp/kernels.cuh"
#include "../../lessons/lesson05_unroll_the_tree/kernels.cuh"
#include "../../lessons/lesson06_algorithm_cascading/kernels.cuh"
#include "../../lessons/lesson07_warp_shuffles/kernels.cuh"
#include "../../lessons/lesson08_vectorized_loads/kernels.cuh"
#include "../../lessons/lesson10_shared_against_global/kernels.cuh"
#include "../../lessons/lesson11_unroll_four_blocks/kernels.cuh"
#include "../../lessons/lesson12_dynamic_shared_memory/kernels.cuh"
#include "../../lessons/lesson13_atomics/kernels.cuh"
#include "../../lessons/lesson15_segments_and_coarsening/kernels.cuh"

#define FOR_BLOCK(size)                                                                                      \
    template __global__ void reduce5<size>(const int*, int*, std::size_t);                                   \
    template __global__ void reduce6<size>(const int*, int*, std::size_t);                                   \
    template __global__ void reduce7<size>(const int*, int*, std::size_t);                                   \
    template __global__ void reduce8<size>(const int*, int*, std::size_t);                                   \
    template __global__ void reduceNeighboredSmem<size>(const int*, int*, std::size_t);                      \
    template __global__ void reduceSmem<size>(const int*, int*, std::size_t);                                \
    template __global__ void reduceSmemUnroll<size>(const int*, int*, std::size_t);
FOR_BLOCK(32)
FOR_BLOCK(64)
FOR_BLOCK(256)
template __global__ void coarse_reduction<4>(const int*, int*, std::size_t);

/// The last warp as it was once written: right where lanes run in lock-step, which nothing promises any more.
__global__ void with_volatile(int* data, int* partial_sums, std::size_t) {
    volatile int* const words = data + std::size_t{blockIdx.x} * 64;
    if (threadIdx.x < 32) {
        for (unsigned int stride = 32; stride > 0; stride /= 2) {
            words[threadIdx.x] = words[threadIdx.x] + words[threadIdx.x + stride];
        }
    }
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = words[0];
    }
}

/// One barrier a step is not enough where all lanes add: lane 16 writes in a step what lane 0 reads in it.
__global__ void with_one_barrier_a_step(int* data, int* partial_sums, std::size_t) {
    int* const words = data + std::size_t{blockIdx.x} * 64;
    if (threadIdx.x < 32) {
        for (unsigned int stride = 32; stride > 0; stride /= 2) {
            words[threadIdx.x] += words[threadIdx.x + stride];
            __syncwarp();
        }
    }
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = words[0];
    }
}

/// One block zeroes what all add to: right as long as it comes first.
__global__ void with_zero_in_it(const int* input, int* partial_sums, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i == 0) {
        *partial_sums = 0;
    }
    __syncthreads();
    if (i < n) {
        atomicAdd(partial_sums, input[i]);
    }
}

/// Threads without an element leave before the barriers that the others wait at.
__global__ void with_early_return(int* data, int* partial_sums, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride && i + stride < n) {
            data[i] += data[i + stride];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = data[i];
    }
}

/// An experiment: does the memory's speed depend on the width of a load, on the loads of a thread, on the resident
/// blocks, or on their product, the bytes in flight? Timed by bench/experiments.cu, which limits the resident blocks
/// by dynamic shared memory that no kernel uses.
#pragma once

#include <cstddef>

__device__ inline int sum_of(int one) { return one; }
__device__ inline int sum_of(int4 four) { return four.x + four.y + four.z + four.w; }

/// reduce6 with other loads: each thread has `loads` of them on their way, waits for all, and adds. The grid has any
/// size, the block whole warps. \tparam Vector int or int4, and the input is aligned to it
template <class Vector, unsigned int loads>
__global__ void loads_in_flight(const int* input, int* partial_sums, std::size_t n) {
    __shared__ int warp_sums[32];
    constexpr unsigned int all_lanes = 0xffffffff, ints = sizeof(Vector) / sizeof(int);
    const unsigned int tid = threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x, vectors = n / ints;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + tid;
    const auto* const body = reinterpret_cast<const Vector*>(input);

    int sum = 0;
    std::size_t i = thread;
#pragma unroll 1 // or the compiler would have more loads in flight
    for (; i + (loads - 1) * threads < vectors; i += loads * threads) {
        Vector loaded[loads];
#pragma unroll
        for (unsigned int load = 0; load < loads; ++load) loaded[load] = body[i + load * threads];
#pragma unroll
        for (unsigned int load = 0; load < loads; ++load) sum += sum_of(loaded[load]);
    }
#pragma unroll 1
    for (; i < vectors; i += threads) sum += sum_of(body[i]);
    if (thread < n - vectors * ints) { // fewer than a vector: the first threads of a grid are enough
        sum += input[vectors * ints + thread];
    }

    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(all_lanes, sum, distance);
    }
    if (tid % 32 == 0) {
        warp_sums[tid / 32] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.
    if (tid < 32) {
        sum = tid < blockDim.x / 32 ? warp_sums[tid] : 0;
        for (unsigned int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(all_lanes, sum, distance);
        }
    }
    if (tid == 0) {
        partial_sums[blockIdx.x] = sum;
    }
}

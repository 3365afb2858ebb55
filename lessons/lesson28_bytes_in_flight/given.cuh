#pragma once

#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>

#include "bulk_copy.cuh"

/// The input in three parts: the head up to an address that 128 divides, whole vectors, and up to three ints
/// past the last one, the tail. A 16-byte copy needs an address that 16 divides. The memory's unit is the
/// line of 128 bytes: a body that starts within one costs a fifth sector for every four that the copy engine
/// fetches.
struct Parts {
    const int4* body;
    std::size_t head, vectors, tail; // tail: the index of its first int
};

__device__ inline Parts split(const int* input, std::size_t n) {
    constexpr std::size_t line = 128 / sizeof(int);
    const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(input) / sizeof(int) % line;
    const std::size_t to_boundary = (line - misplaced) % line;
    const std::size_t head = to_boundary < n ? to_boundary : n;
    const std::size_t vectors = (n - head) / 4;
    return {reinterpret_cast<const int4*>(input + head), head, vectors, head + 4 * vectors};
}

/// The head and the tail, an int per thread of the first block.
__device__ inline int sum_of_edges(const int* input, std::size_t n, const Parts& parts) {
    int sum = 0;
    if (blockIdx.x == 0 && threadIdx.x < parts.head) {
        sum += input[threadIdx.x];
    }
    if (blockIdx.x == 0 && threadIdx.x < n - parts.tail) {
        sum += input[parts.tail + threadIdx.x];
    }
    return sum;
}

__device__ inline int sum_of_four(int4 four) { return four.x + four.y + four.z + four.w; }

/// The sum of every thread's `sum`, in thread 0. All threads of the block take part.
template <unsigned int block_size> __device__ int sum_of_block(int sum) {
    static_assert(block_size >= 32 && block_size <= 1024 && (block_size & (block_size - 1)) == 0,
                  "whole warps, and halves of halves: a power of two from 32 to 1024");
    constexpr unsigned int all_lanes = 0xffffffff, warps = block_size / 32;
    __shared__ int warp_sums[warps];
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(all_lanes, sum, distance);
    }
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.

    if (warp == 0) {
        sum = lane < warps ? warp_sums[lane] : 0;
        for (unsigned int distance = warps / 2; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(all_lanes, sum, distance);
        }
    }
    return sum;
}

/// cp.async: each thread copies its own vectors to shared memory, without a register in between, `stages`
/// groups ahead of the group that it sums. A thread reads only what it copied itself, so no barrier is
/// needed. Dynamic shared memory: stages x vectors_per_stage x block_size vectors. Leaves one partial sum per
/// block.
template <unsigned int block_size, unsigned int stages>
__global__ void reduce10(const int* input, int* partial_sums, std::size_t n, unsigned int vectors_per_stage) {
    static_assert(stages >= 2, "one stage is summed while another is copied");
    extern __shared__ __align__(128) int4 ring[];
    const Parts parts = split(input, n);
    const unsigned int stage_vectors = vectors_per_stage * block_size;
    const std::size_t grid_stride = std::size_t{gridDim.x} * stage_vectors;
    const std::size_t first = std::size_t{blockIdx.x} * stage_vectors + threadIdx.x;

    // Starts the copies of the group whose first vector is `i`. A group past the end is empty, but it counts.
    const auto copy_group = [&](std::size_t i, unsigned int stage) {
        for (unsigned int v = 0; v < stage_vectors && i + v < parts.vectors; v += block_size) {
            __pipeline_memcpy_async(&ring[stage * stage_vectors + v + threadIdx.x], &parts.body[i + v],
                                    sizeof(int4));
        }
        __pipeline_commit();
    };

    for (unsigned int stage = 0; stage < stages; ++stage) {
        copy_group(first + stage * grid_stride, stage);
    }
    int sum = sum_of_edges(input, n, parts);
    unsigned int stage = 0;
    for (std::size_t i = first; i < parts.vectors; i += grid_stride) {
        __pipeline_wait_prior(stages - 1); // All groups but the latest stages - 1: this stage's has arrived.
        for (unsigned int v = 0; v < stage_vectors && i + v < parts.vectors; v += block_size) {
            sum += sum_of_four(ring[stage * stage_vectors + v + threadIdx.x]);
        }
        copy_group(i + stages * grid_stride, stage); // This thread has read what the copies overwrite.
        stage = stage + 1 == stages ? 0 : stage + 1;
    }

    sum = sum_of_block<block_size>(sum);
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = sum;
    }
}

inline constexpr unsigned int max_stages = 32;

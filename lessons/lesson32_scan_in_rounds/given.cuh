#pragma once

#include <cuda/atomic>

#include <cstddef>

// Inclusive sums: output[i] = input[0] + ... + input[i]. A tile is a block's elements of one round.

/// The sum of the values of this lane and all lanes below it. All 32 lanes take part.
__device__ int scan_warp(int sum) {
    for (unsigned int distance = 1; distance < 32; distance *= 2) {
        const int below = __shfl_up_sync(0xffffffff, sum, distance);
        if (threadIdx.x % 32 >= distance) {
            sum += below;
        }
    }
    return sum;
}

/// The sum of the values of this thread and all threads before it. All threads of the block take part.
/// warp_sums: 32 ints of shared memory.
__device__ int scan_block(int value, int* warp_sums) {
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    const int sum = scan_warp(value);
    if (lane == 31) {
        warp_sums[warp] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.
    if (warp == 0) {
        warp_sums[lane] = scan_warp(lane < blockDim.x / 32 ? warp_sums[lane] : 0);
    }
    __syncthreads(); // The sums are scanned before the other warps read them.
    return warp == 0 ? sum : sum + warp_sums[warp - 1];
}

/// What a tile announces: its sum in the lower half, and 1 in the upper half. A thread that sees the one has
/// the other.
using Word = unsigned long long;

constexpr Word is_there = 1ull << 32;

__device__ int sum_in(Word word) { return static_cast<int>(word); }

__device__ void announce(Word* words, std::size_t tile, int sum) {
    cuda::atomic_ref<Word, cuda::thread_scope_device>(words[tile])
        .store(is_there | static_cast<unsigned int>(sum), cuda::memory_order_relaxed);
}

/// 0: the tile has not announced its sum.
__device__ Word read(Word* words, std::size_t tile) {
    return cuda::atomic_ref<Word, cuda::thread_scope_device>(words[tile]).load(cuda::memory_order_relaxed);
}

#pragma once

#include <cuda/atomic>

#include <cstddef>
#include <cstdint>

#include "given.cuh"

// The kernel of exercise 30. Those of sum() are in sum.cuh, which needs no other file.

/// The sum of this thread's part of the input: every `threads`-th vector, and at most one int of the head and
/// one of the tail. Four loads are in flight at a time, each with its own guard.
__device__ inline int sum_of_thread(const int* input, std::size_t n, std::size_t thread,
                                    std::size_t threads) {
    // The body starts at a line of 128 bytes: then no request of 512 bytes touches a 17th sector.
    constexpr std::size_t line = 128 / sizeof(int);
    const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(input) / sizeof(int) % line;
    const std::size_t to_boundary = (line - misplaced) % line;
    const std::size_t head = to_boundary < n ? to_boundary : n;
    const std::size_t vectors = (n - head) / 4;
    const std::size_t tail = head + 4 * vectors;
    const int4* body = reinterpret_cast<const int4*>(input + head);

    int sum = 0;
    for (std::size_t i = thread; i < vectors; i += 4 * threads) {
        int4 four[4];
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            four[k] = i + k * threads < vectors ? body[i + k * threads] : make_int4(0, 0, 0, 0);
        }
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            sum += four[k].x + four[k].y + four[k].z + four[k].w;
        }
    }
    if (thread < head) {
        sum += input[thread];
    }
    if (thread < n - tail) {
        sum += input[tail + thread];
    }
    return sum;
}

/// The sum of n ints in one launch of eight blocks, which is enough for up to 2^17. A grid of one cluster.
/// \param sum_and_count 0 before the launch, and 0 again after it
__global__ void small_sum(const int* input, int* result, std::size_t n, unsigned long long* sum_and_count) {
    __shared__ int warp_sums[32];
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int sum = sum_of_block(sum_of_thread(input, n, thread, threads), warp_sums);
    if (threadIdx.x == 0) {
        // The sum is in the upper half: what overflows there is lost, as in any int's sum, and the count
        // never overflows into it.
        const unsigned long long mine =
            (static_cast<unsigned long long>(static_cast<unsigned int>(sum)) << 32) + 1;
        const cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word(*sum_and_count);
        const unsigned long long all = word.fetch_add(mine, cuda::memory_order_relaxed) + mine;
        if (static_cast<unsigned int>(all) == gridDim.x) {
            *result = static_cast<int>(all >> 32);
            word.store(0, cuda::memory_order_relaxed); // Ready for the next launch.
        }
    }
}

#pragma once

#include <cooperative_groups.h>
#include <cuda/atomic>

#include <cstddef>
#include <cstdint>
#include <utility>

// Every kernel sums its own part in each block the same way. They differ in how the blocks meet.

/// The sum of this thread's part of the input: every `threads`-th vector, and at most one int of the head and
/// one of the tail. Four loads are in flight at a time, each with its own guard: no load waits for
/// another.
__device__ inline int sum_of_thread(const int* input, std::size_t n, std::size_t thread,
                                    std::size_t threads) {
    // A 16-byte load needs an address that 16 divides. The ints before the first such address are the head,
    // the ones past the last whole vector the tail: at most three each.
    const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(input) / sizeof(int) % 4;
    const std::size_t to_boundary = (4 - misplaced) % 4;
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

/// The sum over the warp, in every lane: one instruction from compute capability 8.0 on.
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

/// The sum over the block, in every lane of its first warp. blockDim.x is a multiple of 32, up to 1024.
/// \param warp_sums 32 ints of shared memory
__device__ inline int sum_of_block(int sum, int* warp_sums) {
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    sum = sum_of_warp(sum);
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.
    if (warp == 0) {
        sum = sum_of_warp(lane < blockDim.x / 32 ? warp_sums[lane] : 0);
    }
    return sum;
}

/// The sum over this block's part of the input, in the first warp.
__device__ inline int sum_of_blocks_part(const int* input, std::size_t n, int* warp_sums) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    return sum_of_block(sum_of_thread(input, n, thread, std::size_t{gridDim.x} * blockDim.x), warp_sums);
}

/// The other way around: each block writes its sum to the first block's shared memory, and no block has to
/// stay until its sum is read. The barrier before the store has the time of the loads.
__global__ void reduce12a(const int* input, int* result, std::size_t n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __shared__ int warp_sums[32];
    __shared__ int block_sums[16];
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const unsigned int rank = cluster.block_rank();

    auto all_started = cluster.barrier_arrive();
    int sum = sum_of_blocks_part(input, n, warp_sums);
    cluster.barrier_wait(std::move(all_started)); // The first block runs: its shared memory can be written.
    if (threadIdx.x == 0) {
        *cluster.map_shared_rank(&block_sums[rank], 0) = sum;
    }
    cluster.sync(); // Every block's sum is stored before the first block reads it.

    if (rank == 0 && threadIdx.x < 32) {
        sum = sum_of_warp(threadIdx.x < cluster.num_blocks() ? block_sums[threadIdx.x] : 0);
        if (threadIdx.x == 0) {
            *result = sum;
        }
    }
#endif
}

/// A partial sum per block. Launched again, with one block, it sums those.
__global__ void block_sums(const int* input, int* partial_sums, std::size_t n) {
    __shared__ int warp_sums[32];
    const int sum = sum_of_blocks_part(input, n, warp_sums);
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = sum;
    }
}

/// The block that finishes last, found by a counter in global memory, sums the partial sums of all.
/// \param blocks_done 0 before the launch, and 0 again after it
__global__ void last_block(const int* input, int* result, std::size_t n, int* partial_sums,
                           unsigned int* blocks_done) {
    __shared__ int warp_sums[32];
    __shared__ bool is_last;
    int sum = sum_of_blocks_part(input, n, warp_sums);
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = sum;
        __threadfence(); // Whoever sees this block counted sees its partial sum.
        is_last = atomicInc(blocks_done, gridDim.x - 1) == gridDim.x - 1;
        __threadfence(); // What this block reads from here on is no older than the count it saw.
    }
    __syncthreads(); // The first thread's verdict, and what it may rely on, holds for all.
    if (!is_last) {
        return; // the whole block: no thread is left to wait at a barrier
    }

    sum = 0;
    for (unsigned int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
        sum += __ldcg(&partial_sums[b]);
    }
    sum = sum_of_block(sum, warp_sums);
    if (threadIdx.x == 0) {
        *result = sum;
    }
}

/// One atomic per block. \param result 0 before the launch
__global__ void atomic_per_block(const int* input, int* result, std::size_t n) {
    __shared__ int warp_sums[32];
    const int sum = sum_of_blocks_part(input, n, warp_sums);
    if (threadIdx.x == 0) {
        atomicAdd(result, sum);
    }
}

/// One atomic per block that adds the block's sum and counts the block, in the two halves of one word: the
/// block that finds all others counted has the complete sum in its hand. No fence: nothing but this word is
/// shared. \param sum_and_count 0 before the launch, and 0 again after it
__global__ void counted_sum(const int* input, int* result, std::size_t n, unsigned long long* sum_and_count) {
    __shared__ int warp_sums[32];
    const int sum = sum_of_blocks_part(input, n, warp_sums);
    if (threadIdx.x == 0) {
        // The sum is in the upper half: what overflows there is lost, as in any int's sum, and the count
        // never overflows into it.
        const unsigned long long mine =
            (static_cast<unsigned long long>(static_cast<unsigned int>(sum)) << 32) + 1;
        const unsigned long long all = atomicAdd(sum_and_count, mine) + mine;
        if (static_cast<unsigned int>(all) == gridDim.x) {
            *result = static_cast<int>(all >> 32);
            // Ready for the next launch. Relaxed, as the atomics are: a plain store would race with them.
            cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(*sum_and_count)
                .store(0, cuda::memory_order_relaxed);
        }
    }
}

#pragma once

#include <cstddef>
#include <cstdint>

/// The sum of every thread's `sum`, in thread 0: a tree in shared memory, and shuffles when one warp is left.
/// All threads of the block take part. `shared` holds block_size ints.
template <unsigned int block_size> __device__ int sum_over_block(int sum, int* shared) {
    constexpr unsigned int all_lanes = 0xffffffff;
    const unsigned int tid = threadIdx.x;

    shared[tid] = sum;
    __syncthreads(); // Every thread's sum is stored before another thread reads it.

    for (unsigned int stride = block_size / 2; stride >= 32; stride /= 2) {
        if (tid < stride) {
            sum += shared[tid + stride];
            shared[tid] = sum;
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    if (tid < 32) {
        for (unsigned int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(all_lanes, sum, distance);
        }
    }
    return sum;
}

/// The sum of this thread's part of the input: every grid_threads-th vector, and at most one int of the head
/// and one of the tail. vt0 loads at a time, none of which waits for another, go to vt0 sums.
__device__ int sum_of_thread(const int* input, std::size_t n, std::size_t thread, std::size_t grid_threads) {
    constexpr unsigned int vt0 = 4; // "values a thread": as PyTorch has it

    // A 16-byte load needs an address that 16 divides. The ints before the first such address are the head,
    // the ones past the last whole vector the tail: at most three each.
    const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(input) / sizeof(int) % 4;
    const std::size_t to_boundary = (4 - misplaced) % 4;
    const std::size_t head = to_boundary < n ? to_boundary : n;
    const std::size_t vectors = (n - head) / 4;
    const std::size_t tail = head + 4 * vectors;
    const int4* body = reinterpret_cast<const int4*>(input + head);

    int sums[vt0] = {};
    std::size_t i = thread;
    for (; i + (vt0 - 1) * grid_threads < vectors; i += vt0 * grid_threads) {
        int4 four[vt0];
        for (unsigned int k = 0; k < vt0; ++k) {
            four[k] = body[i + k * grid_threads];
        }
        for (unsigned int k = 0; k < vt0; ++k) {
            sums[k] += four[k].x + four[k].y + four[k].z + four[k].w;
        }
    }
    // Fewer than vt0 are left for this thread.
    for (; i < vectors; i += grid_threads) {
        const int4 four = body[i];
        sums[0] += four.x + four.y + four.z + four.w;
    }
    if (thread < head) {
        sums[0] += input[thread];
    }
    if (thread < n - tail) {
        sums[0] += input[tail + thread];
    }

    int sum = 0;
    for (unsigned int k = 0; k < vt0; ++k) {
        sum += sums[k];
    }
    return sum;
}

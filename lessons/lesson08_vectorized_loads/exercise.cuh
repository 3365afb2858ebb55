#pragma once

#include <cstddef>
#include <cstdint>

/// Each load brings four ints, 16 bytes, from where a sector begins: every sector is loaded once. The input may
/// start anywhere and have any length. Shared memory: block_size / 32 ints, static. Leaves one partial sum per
/// block.
template <unsigned int block_size>
__global__ void reduce8(const int* input, int* partial_sums, std::size_t n) {
    static_assert(block_size >= 32 && block_size <= 1024 && (block_size & (block_size - 1)) == 0,
                  "whole warps, and halves of halves: a power of two from 32 to 1024");
    constexpr unsigned int all_lanes = 0xffffffff, warps = block_size / 32;
    __shared__ int warp_sums[warps];
    const unsigned int tid = threadIdx.x;
    const unsigned int warp = tid / 32, lane = tid % 32;
    // 64 bits wide: beyond 2^32 elements a narrower i would wrap around and never reach n.
    const std::size_t grid_stride = std::size_t{gridDim.x} * (2 * block_size);

    // TODO, about 3 lines: let the vectors begin where a sector of 32 bytes begins, so that no request touches
    // one sector too many.
    // A 16-byte load needs an address that 16 divides. The ints before the first such address are the head,
    // the ones past the last whole vector the tail: at most three each.
    const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(input) / sizeof(int) % 4;
    const std::size_t to_boundary = (4 - misplaced) % 4;
    const std::size_t head = to_boundary < n ? to_boundary : n;
    const std::size_t vectors = (n - head) / 4;
    const std::size_t tail = head + 4 * vectors;
    const int4* body = reinterpret_cast<const int4*>(input + head);

    int sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * (2 * block_size) + tid; i < vectors; i += grid_stride) {
        const int4 four = body[i];
        sum += four.x + four.y + four.z + four.w;
        if (i + block_size < vectors) {
            const int4 more = body[i + block_size];
            sum += more.x + more.y + more.z + more.w;
        }
    }
    // Any block has enough threads for both.
    if (blockIdx.x == 0 && tid < head) {
        sum += input[tid];
    }
    if (blockIdx.x == 0 && tid < n - tail) {
        sum += input[tail + tid];
    }

    // All lanes in the mask must reach this: those past n contribute 0. Lane 0 gets the warp's sum; the
    // other lanes' results are not used.
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

    if (tid == 0) {
        partial_sums[blockIdx.x] = sum;
    }
}

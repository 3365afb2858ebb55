#pragma once

#include <cuda/atomic>

#include <cstddef>

// Inclusive sums: output[i] = input[0] + ... + input[i]. A tile is blockDim.x elements, whole warps.

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

/// Scans each tile separately and leaves its sum in tile_sums, as the scans in shared memory do. In place is
/// fine too.
__global__ void scan_warps(const int* input, int* output, std::size_t n, int* tile_sums) {
    __shared__ int warp_sums[32];
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

    const int sum = scan_block(i < n ? input[i] : 0, warp_sums);
    if (threadIdx.x == blockDim.x - 1) {
        tile_sums[blockIdx.x] = sum;
    }
    if (i < n) {
        output[i] = sum;
    }
}

/// What a tile has published.
enum Status : unsigned int { nothing, its_sum, all_up_to_it };

/// Where the tiles of a scan meet, in global memory. A separate word for each sum: one may still be read
/// when the other one is written.
struct Tiles {
    unsigned int* next;   ///< the number that the next block takes. 0 before the launch
    unsigned int* status; ///< of each tile. `nothing`, 0, before the launch
    int* sums;            ///< of the tile's elements
    int* prefixes;        ///< of all elements up to the tile's end
};

/// The status is read while others write it: an atomic, which orders nothing else.
__device__ cuda::atomic_ref<unsigned int, cuda::thread_scope_device> status_of(const Tiles& tiles,
                                                                               unsigned int tile) {
    return cuda::atomic_ref<unsigned int, cuda::thread_scope_device>(tiles.status[tile]);
}

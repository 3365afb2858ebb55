#pragma once

#include "kernels.cuh" // scan_warp, Status

#include <cuda/atomic>

#include <cstddef>

// scan_lookback with three changes: 16 elements per thread, a whole warp that looks back, and one word for
// the status and the sum.

constexpr unsigned int elements_per_thread = 16;

/// Where the tiles of scan_lookback_wide meet. Both are 0 before the launch.
struct WideTiles {
    unsigned int* next; ///< the number that the next block takes
    unsigned long long*
        words; ///< of each tile: its Status in the upper half, the sum that it announces in the lower
};

__device__ cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word_of(const WideTiles& tiles,
                                                                                   unsigned int tile) {
    return cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(tiles.words[tile]);
}

/// One store for both: whoever sees the status has the sum, so no fence is needed.
__device__ void publish(const WideTiles& tiles, unsigned int tile, int sum, Status status) {
    const unsigned long long upper = status;
    word_of(tiles, tile).store(upper << 32 | static_cast<unsigned int>(sum), cuda::memory_order_relaxed);
}

/// The sum of all tiles before this one, in all lanes. The 32 lanes of a warp take part. Each looks at one
/// tile, lane 0 at the nearest.
__device__ int look_back_by_warp(const WideTiles& tiles, unsigned int tile) {
    const unsigned int lane = threadIdx.x % 32;
    int sum = 0;
    for (unsigned int end = tile; end > 0; end -= min(end, 32u)) { // the tiles from `end` on are in the sum
        Status status = all_up_to_it;                              // what comes before tile 0 is known: 0
        int announced = 0;
        if (lane < end) {
            unsigned long long word = nothing;
            while (word >> 32 == nothing) {
                word = word_of(tiles, end - 1 - lane).load(cuda::memory_order_relaxed);
            }
            status = static_cast<Status>(word >> 32);
            announced = static_cast<int>(word);
        }
        __syncwarp();
        const unsigned int prefixes = __ballot_sync(0xffffffff, status == all_up_to_it);
        const unsigned int nearest = __ffs(prefixes) - 1; // without a prefix 0xffffffff: all lanes count
        sum += __shfl_sync(0xffffffff, scan_warp(lane <= nearest ? announced : 0), 31);
        if (prefixes != 0) {
            break;
        }
    }
    return sum;
}

/// The whole scan in one launch, for any n. A tile is 16 x blockDim.x elements, and a warp has 512 adjacent
/// ones of it.
__global__ void scan_lookback_wide(const int* input, int* output, std::size_t n, WideTiles tiles) {
    __shared__ int warp_sums[32];
    __shared__ unsigned int taken;
    __shared__ int sum_before;
    if (threadIdx.x == 0) {
        taken = atomicAdd(tiles.next, 1u);
    }
    __syncthreads(); // The number is stored before all threads read it.
    const unsigned int tile = taken, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const std::size_t first = (std::size_t{tile} * blockDim.x + warp * 32) * elements_per_thread + lane;

    int sums[elements_per_thread]; // of the warp's elements up to first + 32 k
    for (unsigned int k = 0; k < elements_per_thread; ++k) {
        sums[k] = first + 32 * k < n ? input[first + 32 * k] : 0;
    }
    int sum = 0; // of all that the warp has scanned
    for (unsigned int k = 0; k < elements_per_thread; ++k) {
        sums[k] = sum + scan_warp(sums[k]);
        sum = __shfl_sync(0xffffffff, sums[k], 31);
    }
    if (lane == 31) {
        warp_sums[warp] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.
    if (warp == 0) {
        const int scanned = scan_warp(lane < blockDim.x / 32 ? warp_sums[lane] : 0);
        const int tile_sum = __shfl_sync(0xffffffff, scanned, 31);
        warp_sums[lane] = scanned;
        if (lane == 0 && tile > 0) {
            publish(tiles, tile, tile_sum, its_sum);
        }
        const int before = look_back_by_warp(tiles, tile);
        if (lane == 0) {
            publish(tiles, tile, before + tile_sum, all_up_to_it);
            sum_before = before;
        }
    }
    __syncthreads(); // The sums are stored before all threads read them.
    const int before = sum_before + (warp > 0 ? warp_sums[warp - 1] : 0);
    for (unsigned int k = 0; k < elements_per_thread; ++k) {
        if (first + 32 * k < n) {
            output[first + 32 * k] = before + sums[k];
        }
    }
}

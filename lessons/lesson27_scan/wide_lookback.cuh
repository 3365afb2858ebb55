#pragma once

#include "given.cuh" // scan_warp, Status

#include <cuda/atomic>

#include <cstddef>

// scan_lookback with three changes: 32 elements per thread as eight vectors, a whole warp that looks back,
// and one word for the status and the sum.

constexpr unsigned int vectors_per_thread = 8, elements_per_thread = 4 * vectors_per_thread;

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

/// The four elements from i on; 0 takes the place of those past the end.
__device__ int4 load_up_to(std::size_t n, const int* input, std::size_t i) {
    return {i < n ? input[i] : 0, i + 1 < n ? input[i + 1] : 0, i + 2 < n ? input[i + 2] : 0,
            i + 3 < n ? input[i + 3] : 0};
}

/// Stores those of the four elements from i on that are not past the end.
__device__ void store_up_to(std::size_t n, int* output, std::size_t i, int4 vector) {
    if (i < n) {
        output[i] = vector.x;
    }
    if (i + 1 < n) {
        output[i + 1] = vector.y;
    }
    if (i + 2 < n) {
        output[i + 2] = vector.z;
    }
    if (i + 3 < n) {
        output[i + 3] = vector.w;
    }
}

__device__ int4 add(int4 vector, int value) {
    return {vector.x + value, vector.y + value, vector.z + value, vector.w + value};
}

/// The whole scan in one launch, for any n. A tile is 32 x blockDim.x elements, and a warp has 1,024 adjacent
/// ones of it. 16 divides the addresses of input and output, as it does those of cudaMalloc.
__global__ void scan_lookback_wide(const int* input, int* output, std::size_t n, WideTiles tiles) {
    __shared__ int warp_sums[32];
    __shared__ unsigned int taken;
    __shared__ int sum_before;
    if (threadIdx.x == 0) {
        taken = atomicAdd(tiles.next, 1u);
    }
    __syncthreads(); // The number is stored before all threads read it.
    const unsigned int tile = taken, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const std::size_t first = (std::size_t{tile} * blockDim.x + warp * 32) * vectors_per_thread + lane;
    const bool is_whole = (std::size_t{tile} + 1) * blockDim.x * elements_per_thread <= n;

    // This lane has the vectors first + 32 k. These are the sums of the warp's elements up to each of theirs.
    int4 sums[vectors_per_thread];
    if (is_whole) { // all tiles but the last one
        for (unsigned int k = 0; k < vectors_per_thread; ++k) {
            sums[k] = reinterpret_cast<const int4*>(input)[first + 32 * k];
        }
    } else {
        for (unsigned int k = 0; k < vectors_per_thread; ++k) {
            sums[k] = load_up_to(n, input, 4 * (first + 32 * k));
        }
    }
    int ends[vectors_per_thread]; // the sums of a vector's elements up to this lane's last
    for (unsigned int k = 0; k < vectors_per_thread; ++k) {
        sums[k].y += sums[k].x;
        sums[k].z += sums[k].y;
        sums[k].w += sums[k].z;
        ends[k] = scan_warp(sums[k].w); // Not + sum: then each of these would wait for the one before it.
    }
    int sum = 0; // of all that the warp has scanned
    for (unsigned int k = 0; k < vectors_per_thread; ++k) {
        const int end = sum + ends[k];
        sums[k] = add(sums[k], end - sums[k].w);
        sum = __shfl_sync(0xffffffff, end, 31);
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
    if (is_whole) {
        for (unsigned int k = 0; k < vectors_per_thread; ++k) {
            reinterpret_cast<int4*>(output)[first + 32 * k] = add(sums[k], before);
        }
    } else {
        for (unsigned int k = 0; k < vectors_per_thread; ++k) {
            store_up_to(n, output, 4 * (first + 32 * k), add(sums[k], before));
        }
    }
}

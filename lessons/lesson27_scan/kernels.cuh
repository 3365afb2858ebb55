#pragma once

#include <cuda/atomic>

#include <cstddef>

#include "given.cuh"

/// Stores a tile's sum, then the status that announces it.
__device__ void publish(const Tiles& tiles, unsigned int tile, int* sums, int sum, Status status) {
    sums[tile] = sum;
    __threadfence(); // Release: whoever sees the status sees the sum.
    status_of(tiles, tile).store(status, cuda::memory_order_relaxed);
}

/// The sum of all tiles before this one. Walks back until a tile has published its prefix.
__device__ int look_back(const Tiles& tiles, unsigned int tile) {
    int sum = 0;
    while (tile > 0) {
        --tile;
        unsigned int status = nothing;
        while (status == nothing) { // That tile is taken: its block runs, and waits for no later one.
            status = status_of(tiles, tile).load(cuda::memory_order_relaxed);
        }
        __threadfence(); // Acquire: the sum that is read now is the one that the status announced.
        if (status == all_up_to_it) {
            return sum + tiles.prefixes[tile];
        }
        sum += tiles.sums[tile];
    }
    return sum;
}

/// The whole scan in one launch, for any n: each block takes a tile and looks back for what comes before it.
__global__ void scan_lookback(const int* input, int* output, std::size_t n, Tiles tiles) {
    __shared__ int warp_sums[32];
    __shared__ unsigned int taken;
    __shared__ int sum_before;
    // Not blockIdx.x: nothing promises that block 0 starts before block 1. Whoever takes 1 knows that 0 is
    // taken, so that its block runs.
    if (threadIdx.x == 0) {
        taken = atomicAdd(tiles.next, 1u);
    }
    __syncthreads(); // The number is stored before all threads read it.
    const unsigned int tile = taken;
    const std::size_t i = std::size_t{tile} * blockDim.x + threadIdx.x;

    const int sum = scan_block(i < n ? input[i] : 0, warp_sums);
    if (threadIdx.x == blockDim.x - 1) { // the one that has the tile's sum
        if (tile > 0) {
            publish(tiles, tile, tiles.sums, sum, its_sum); // Later tiles need not wait for what comes now.
        }
        sum_before = look_back(tiles, tile);
        publish(tiles, tile, tiles.prefixes, sum_before + sum, all_up_to_it);
    }
    __syncthreads(); // The sum is stored before all threads read it.
    if (i < n) {
        output[i] = sum_before + sum;
    }
}

#pragma once

#include <cstddef>

#include "given.cuh"

/// Adds the sum of n ints to *sum. `input` is aligned to 16 bytes.
__global__ void add_sum(const int* input, std::size_t n, int* sum) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t vectors = n / 4;
    int mine = 0;
    for (std::size_t i = thread; i < vectors; i += threads) {
        const int4 four = reinterpret_cast<const int4*>(input)[i];
        mine += four.x + four.y + four.z + four.w;
    }
    if (thread < n % 4) {
        mine += input[4 * vectors + thread];
    }
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        mine += __shfl_down_sync(0xffffffff, mine, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sum, mine); // One per warp is enough here: the link is far slower.
    }
}

/// Lists the calls that sum the tiles: one stream copies them to two buffers in turn, the other one adds what a buffer holds.
/// One thread.
__global__ void queue_tiles(Queue queue, int tiles) {
    // TODO, about 7 lines: order the two streams by events, and by no more than they need.
    for (int tile = 0; tile < tiles; ++tile) {
        const int buffer = tile % 2;
        queue.copy(buffer, tile, Stream::copies);
        queue.add(buffer, tile, Stream::kernels);
    }
}

#pragma once

#include <cstddef>

#include "given.cuh"

constexpr unsigned int elements_per_thread = 1; // 4, when your kernel takes four

/// The sum of the tiles from `first` to before `end`, in all lanes. The 32 lanes of a warp take part. A lane
/// reads all of its words before it needs one: no load waits for another.
__device__ int sum_of_tiles(Word* words, unsigned int first, unsigned int end) {
    constexpr unsigned int at_once = 8;
    const unsigned int lane = threadIdx.x % 32;
    int sum = 0;
    for (; first < end; first += min(end - first, 32 * at_once)) {
        Word word[at_once];
        for (unsigned int k = 0; k < at_once; ++k) {
            const unsigned int tile = first + 32 * k + lane;
            word[k] = tile < end ? read(words, tile) : is_there; // past the end: the sum 0
        }
        for (unsigned int k = 0; k < at_once; ++k) {
            while (word[k] == 0) { // Not yet: that block runs, and waits for no later tile.
                word[k] = read(words, first + 32 * k + lane);
            }
            sum += sum_in(word[k]);
        }
    }
    __syncwarp();
    return __shfl_sync(0xffffffff, scan_warp(sum), 31);
}

/// The whole scan in one launch, for any n. All blocks of the grid run at the same time.
/// \param words a word per tile, 0 before the launch
__global__ void scan_in_rounds(const int* input, int* output, std::size_t n, Word* words) {
    __shared__ int warp_sums[32];
    __shared__ int sum_before;
    const std::size_t tiles = (n + blockDim.x - 1) / blockDim.x;
    unsigned int known = 0; // of the first warp: the tiles whose sum it has
    int before = 0;         // and that sum

    // TODO, about 25 lines: four adjacent elements per thread, loaded and stored as one vector of 16 bytes. At the
    // input's end there may be fewer.
    for (unsigned int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const std::size_t i = std::size_t{tile} * blockDim.x + threadIdx.x;
        const int sum = scan_block(i < n ? input[i] : 0, warp_sums);
        if (threadIdx.x == blockDim.x - 1) { // the one that has the tile's sum
            announce(words, tile, sum);
        }
        if (threadIdx.x < 32) {
            before += sum_of_tiles(words, known, tile);
            known = tile;
            sum_before = before;
        }
        __syncthreads(); // The sum is stored before all threads read it.
        if (i < n) {
            output[i] = sum_before + sum;
        }
    }
}

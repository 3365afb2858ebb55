#pragma once

#include <cstddef>

#include "given.cuh"

constexpr unsigned int elements_per_thread = 4;

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

/// The four elements from i on; 0 takes the place of those past the end.
__device__ int4 load_up_to(std::size_t n, const int* input, std::size_t i) {
    if (i + 4 <= n) {
        return reinterpret_cast<const int4*>(input)[i / 4];
    }
    return {i < n ? input[i] : 0, i + 1 < n ? input[i + 1] : 0, i + 2 < n ? input[i + 2] : 0, 0};
}

/// Stores those of the four elements from i on that are not past the end.
__device__ void store_up_to(std::size_t n, int* output, std::size_t i, int4 vector) {
    if (i + 4 <= n) {
        reinterpret_cast<int4*>(output)[i / 4] = vector;
        return;
    }
    if (i < n) {
        output[i] = vector.x;
    }
    if (i + 1 < n) {
        output[i + 1] = vector.y;
    }
    if (i + 2 < n) {
        output[i + 2] = vector.z;
    }
}

/// The whole scan in one launch, for any n. All blocks of the grid run at the same time.
/// \param words a word per tile, 0 before the launch
__global__ void scan_in_rounds(const int* input, int* output, std::size_t n, Word* words) {
    __shared__ int warp_sums[32];
    __shared__ int sum_before;
    const unsigned int tile_elements = elements_per_thread * blockDim.x;
    const std::size_t tiles = (n + tile_elements - 1) / tile_elements;
    unsigned int known = 0; // of the first warp: the tiles whose sum it has
    int before = 0;         // and that sum

    for (unsigned int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const std::size_t i = (std::size_t{tile} * blockDim.x + threadIdx.x) * elements_per_thread;
        int4 sums = load_up_to(n, input, i);
        sums.y += sums.x;
        sums.z += sums.y;
        sums.w += sums.z;
        const int sum = scan_block(sums.w, warp_sums);
        if (threadIdx.x == blockDim.x - 1) { // the one that has the tile's sum
            announce(words, tile, sum);
        }
        if (threadIdx.x < 32) {
            before += sum_of_tiles(words, known, tile);
            known = tile;
            sum_before = before;
        }
        __syncthreads(); // The sum is stored before all threads read it.
        const int before_vector = sum_before + sum - sums.w;
        store_up_to(
            n, output, i,
            {sums.x + before_vector, sums.y + before_vector, sums.z + before_vector, sums.w + before_vector});
    }
}

#pragma once

#include <cstddef>

// Scans of a tile in shared memory. Inclusive sums: output[i] = input[0] + ... + input[i]. A tile is
// blockDim.x elements, a power of two from 32 to 1024. Each tile is scanned separately, and its sum goes to
// tile_sums. The same kernel scans those, and add_tile_sums adds to each tile what comes before it: right for
// any n. In place is fine too: output = input.

/// Every thread adds the sum that ends `distance` before it. log2(tile) steps, in which nearly all threads
/// add. Shared memory: one int per thread.
__global__ void scan_hillis_steele(const int* input, int* output, std::size_t n, int* tile_sums) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    int sum = i < n ? input[i] : 0;
    shared[tid] = sum;
    __syncthreads(); // Every value is stored before another thread reads it.

    for (unsigned int distance = 1; distance < blockDim.x; distance *= 2) {
        if (tid >= distance) {
            sum += shared[tid - distance];
        }
        __syncthreads(); // read, then overwritten
        shared[tid] = sum;
        __syncthreads(); // written, then read
    }

    if (i < n) {
        output[i] = sum;
    }
    if (tid == blockDim.x - 1) {
        tile_sums[blockIdx.x] = sum;
    }
}

/// The word of shared memory for element i. Padded: an unused word follows every 32.
template <bool padded> __device__ unsigned int word(unsigned int i) { return padded ? i + i / 32 : i; }

/// A tree of sums on the way up; on the way down each node hands to its children what comes before them.
/// Twice the steps, a fraction of the additions.
template <bool padded>
__device__ void scan_by_tree(const int* input, int* output, std::size_t n, int* tile_sums) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    const int value = i < n ? input[i] : 0;
    shared[word<padded>(tid)] = value;

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads(); // What the step before stored, this one reads.
        const unsigned int right = 2 * stride * (tid + 1) - 1;
        if (right < blockDim.x) {
            shared[word<padded>(right)] += shared[word<padded>(right - stride)];
        }
    }
    if (tid == 0) { // It has just added at the root, which is the last element.
        int& root = shared[word<padded>(blockDim.x - 1)];
        tile_sums[blockIdx.x] = root;
        root = 0; // Nothing comes before the whole tile.
    }
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();
        const unsigned int right = 2 * stride * (tid + 1) - 1;
        if (right < blockDim.x) {
            const int left_sum = shared[word<padded>(right - stride)];
            const int before = shared[word<padded>(right)];
            shared[word<padded>(right - stride)] = before;
            shared[word<padded>(right)] = before + left_sum;
        }
    }
    __syncthreads(); // Every leaf is stored before its thread reads it.

    if (i < n) {
        output[i] = shared[word<padded>(tid)] + value;
    }
}

/// Shared memory: one int per thread. Strides of 2, 4, 8, ... words on purpose: up to 32 lanes on one bank.
__global__ void scan_blelloch(const int* input, int* output, std::size_t n, int* tile_sums) {
    scan_by_tree<false>(input, output, n, tile_sums);
}

/// Shared memory: 33 ints per 32 threads.
__global__ void scan_blelloch_padded(const int* input, int* output, std::size_t n, int* tile_sums) {
    scan_by_tree<true>(input, output, n, tile_sums);
}

/// Completes the scan of tiles: adds to each element the sum of all tiles before its own.
__global__ void add_tile_sums(int* output, std::size_t n, const int* scanned_tile_sums) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

    if (blockIdx.x > 0 && i < n) {
        output[i] += scanned_tile_sums[blockIdx.x - 1];
    }
}

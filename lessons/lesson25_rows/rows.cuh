#pragma once

#include <cstddef>

// The sum of each row of a matrix. `input` has `rows` rows of `columns` ints, one row after the other.
// blockDim.x is a multiple of 32. Any shape, of at least one element.

/// One thread per row. Uncoalesced on purpose: neighboring lanes load ints that lie `columns` apart.
__global__ void rows_by_thread(const int* input, int* sums, std::size_t rows, std::size_t columns) {
    const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

    if (row < rows) {
        int sum = 0;
        for (std::size_t col = 0; col < columns; ++col) {
            sum += input[row * columns + col];
        }
        sums[row] = sum;
    }
}

/// The sum over all 32 lanes, in every lane.
__device__ int sum_warp(int sum) {
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    }
    return sum;
}

/// One warp per row: neighboring lanes load neighboring ints, and shuffles add up the lanes' sums.
__global__ void rows_by_warp(const int* input, int* sums, std::size_t rows, std::size_t columns) {
    const std::size_t row = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
    const unsigned int lane = threadIdx.x % 32;

    if (row < rows) { // The same for all lanes: they meet in the shuffles.
        int sum = 0;
        for (std::size_t col = lane; col < columns; col += 32) {
            sum += input[row * columns + col];
        }
        sum = sum_warp(sum);
        if (lane == 0) {
            sums[row] = sum;
        }
    }
}

/// One block per row: the sums of its warps meet in shared memory. Eight loads are on their way before the
/// first one is needed.
__global__ void rows_by_block(const int* input, int* sums, std::size_t rows, std::size_t columns) {
    __shared__ int warp_sums[32];
    const std::size_t row = blockIdx.x;
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    int sum = 0;
    for (std::size_t col = threadIdx.x; col < columns; col += 8 * blockDim.x) {
        for (unsigned int k = 0; k < 8; ++k) {
            sum += col + k * blockDim.x < columns ? input[row * columns + col + k * blockDim.x] : 0;
        }
    }
    sum = sum_warp(sum);
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp loads it.
    if (warp == 0) {
        sum = sum_warp(lane < blockDim.x / 32 ? warp_sums[lane] : 0);
        if (lane == 0) {
            sums[row] = sum;
        }
    }
}

#pragma once

#include <cstddef>

/// Each thread first adds up four elements, a block's width apart: one thread block for four blocks of data.
/// In place in global memory: the input is overwritten. A thread keeps its own sum in a register, and loads
/// only what another thread has stored. Leaves one partial sum per block.
__global__ void reduceGmemUnroll(int* data, int* partial_sums, std::size_t n) {
    const unsigned int tid = threadIdx.x;
    const std::size_t first = std::size_t{blockIdx.x} * (4 * blockDim.x);
    const std::size_t i = first + tid;
    // What lies from here on is another block's, or nobody's: neither read nor written, it counts as zero.
    const std::size_t end = first + blockDim.x < n ? first + blockDim.x : n;

    // Each load has its own guard: the input may end before any of them.
    int sum = i < n ? data[i] : 0;
    if (i + blockDim.x < n) {
        sum += data[i + blockDim.x];
    }
    if (i + 2 * blockDim.x < n) {
        sum += data[i + 2 * blockDim.x];
    }
    if (i + 3 * blockDim.x < n) {
        sum += data[i + 3 * blockDim.x];
    }
    if (i < n) {
        data[i] = sum;
    }
    __syncthreads(); // Every sum of four is stored before another thread reads it.

    for (unsigned int stride = blockDim.x / 2; stride > 32; stride /= 2) {
        if (tid < stride && i + stride < end) {
            sum += data[i + stride];
            data[i] = sum;
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    // One warp is left: all of its lanes add in every step, and load their partners' words.
    if (tid < 32) {
#pragma unroll
        for (unsigned int stride = 32; stride > 0; stride /= 2) {
            const bool has_partner = i + stride < end;
            if (has_partner) {
                sum += data[i + stride];
            }
            __syncwarp(); // Every lane has read before another one overwrites.
            if (has_partner) {
                data[i] = sum;
            }
            __syncwarp(); // This step's sums are stored before the next step reads them.
        }
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = sum;
    }
}

/// The same in shared memory, whose size is known to the compiler. Leaves one partial sum per block.
template <unsigned int block_size>
__global__ void reduceSmemUnroll(const int* input, int* partial_sums, std::size_t n) {
    __shared__ int shared[block_size];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * (4 * blockDim.x) + tid;

    // Each load has its own guard: the input may end before any of them.
    int four = i < n ? input[i] : 0;
    if (i + blockDim.x < n) {
        four += input[i + blockDim.x];
    }
    if (i + 2 * blockDim.x < n) {
        four += input[i + 2 * blockDim.x];
    }
    if (i + 3 * blockDim.x < n) {
        four += input[i + 3 * blockDim.x];
    }
    shared[tid] = four;
    __syncthreads(); // Every sum of four is stored before another thread reads it.

    for (unsigned int stride = blockDim.x / 2; stride > 32; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }

    // One warp is left: all of its lanes add in every step, and reload both words.
    if (tid < 32) {
#pragma unroll
        for (unsigned int stride = 32; stride > 0; stride /= 2) {
            const bool has_partner = tid + stride < blockDim.x;
            const int sum = has_partner ? shared[tid] + shared[tid + stride] : 0;
            __syncwarp(); // Every lane has read before another one overwrites.
            if (has_partner) {
                shared[tid] = sum;
            }
            __syncwarp(); // This step's sums are stored before the next step reads them.
        }
    }

    if (tid == 0) {
        partial_sums[blockIdx.x] = shared[0];
    }
}

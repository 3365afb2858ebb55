/// Published faults in our own words, each no longer than the fault needs. docs/errata.md says where they
/// were published; errata_test.cu shows what they do. Nothing here is an example to follow.
#pragma once

#include <cstddef>
#include <vector>

/// The sum of the block's values, in every thread. Right: the faults are in who calls it. All threads of the
/// block take part; there are a power of two of them.
__device__ inline int sum_of_block(int value) {
    __shared__ int words[1024];
    const unsigned int tid = threadIdx.x;
    words[tid] = value;
    __syncthreads(); // Every value is stored before another thread reads it.
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) words[tid] += words[tid + stride];
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }
    return words[0];
}

/// Where a thread's first of four elements lies; the others follow blockDim.x apart.
__device__ inline unsigned int first_of_four() { return blockIdx.x * (4 * blockDim.x) + threadIdx.x; }

__device__ inline int four_elements(const int* input, unsigned int i) {
    return input[i] + input[i + blockDim.x] + input[i + 2 * blockDim.x] + input[i + 3 * blockDim.x];
}

/// One guard for four loads: safe, but a thread whose fourth element is missing drops the other three too.
__global__ void one_guard(const int* input, int* partial_sums, unsigned int n) {
    const unsigned int i = first_of_four();
    const int sum = sum_of_block(i + 3 * blockDim.x < n ? four_elements(input, i) : 0); // wrong
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = sum;
}

/// The same, and where the two sides are equal it reads input[n].
__global__ void guard_at_equality(const int* input, int* partial_sums, unsigned int n) {
    const unsigned int i = first_of_four();
    const int sum = sum_of_block(i + 3 * blockDim.x <= n ? four_elements(input, i) : 0); // wrong
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = sum;
}

/// Counts the end of the block where it means the thread's last element: in the last block only thread 0
/// passes.
__global__ void guard_a_block_too_far(const int* input, int* partial_sums, unsigned int n) {
    const unsigned int i = first_of_four();
    const int sum = sum_of_block(i + 4 * blockDim.x <= n ? four_elements(input, i) : 0); // wrong
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = sum;
}

/// Right: a guard for each load.
__global__ void guard_for_each_load(const int* input, int* partial_sums, unsigned int n) {
    const unsigned int i = first_of_four();
    int sum = 0;
    for (unsigned int load = 0; load < 4; ++load) {
        if (i + load * blockDim.x < n) sum += input[i + load * blockDim.x];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = sum;
}

/// Right for any grid, as long as the next pass knows how large that was.
__global__ void grid_stride(const int* input, int* partial_sums, unsigned int n) {
    int sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
         i += std::size_t{gridDim.x} * blockDim.x) {
        sum += input[i];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = sum;
}

/// One block sums in place. Threads beyond n leave, but their elements are read all the same.
__global__ void sums_in_place(int* data, int* sum, unsigned int n) {
    const unsigned int tid = threadIdx.x;
    if (tid >= n) return; // wrong: it guards this thread, and not what tid + stride points to
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) data[tid] += data[tid + stride];
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }
    if (tid == 0) *sum = data[0];
}

/// One warp sums 64 words as the old last warp did: `volatile`, and no barrier between a lane's store and
/// another lane's load. `half_a_warp_ahead` makes one of the orders explicit that are allowed since Volta: in
/// the line with 16, lanes 16 to 31 come first. Without it the lanes run as the device likes.
__global__ void volatile_last_warp(const int* input, int* sum, bool half_a_warp_ahead) {
    __shared__ int shared[64];
    volatile int* words = shared;
    const unsigned int lane = threadIdx.x;
    words[lane] = input[lane];
    words[lane + 32] = input[lane + 32];

    words[lane] = words[lane] + words[lane + 32];
    if (half_a_warp_ahead) {
        if (lane >= 16) words[lane] = words[lane] + words[lane + 16];
        __syncwarp(); // not a barrier that is missed: it only fixes the order
        if (lane < 16) words[lane] = words[lane] + words[lane + 16];
    } else {
        words[lane] = words[lane] + words[lane + 16];
    }
    words[lane] = words[lane] + words[lane + 8];
    words[lane] = words[lane] + words[lane + 4];
    words[lane] = words[lane] + words[lane + 2];
    words[lane] = words[lane] + words[lane + 1];
    if (lane == 0) *sum = words[0];
}

/// An unrolled tree from the days of 512 threads a block: its first step is the one of 256.
__global__ void tree_from_512(const int* input, int* sum) {
    __shared__ int words[1024];
    const unsigned int tid = threadIdx.x;
    words[tid] = input[tid];
    __syncthreads();         // Every element is stored before another thread reads it.
    if (blockDim.x >= 512) { // wrong: a block of 1024 needs a step of 512 before this
        if (tid < 256) words[tid] += words[tid + 256];
        __syncthreads(); // This step's sums are stored before the next step reads them.
    }
    for (unsigned int stride = 128; stride > 0; stride /= 2) { // as published, but rolled up
        if (tid < stride) words[tid] += words[tid + stride];
        __syncthreads();
    }
    if (tid == 0) *sum = words[0];
}

/// Block 0 waits until all others are done: one of the orders that a grid may run in.
__device__ inline void let_block_0_come_last(unsigned int* blocks_done) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        while (atomicAdd(blocks_done, 0u) < gridDim.x - 1) {
        }
        __threadfence(); // What this block reads from here on is no older than the count.
    }
    __syncthreads(); // The whole block waits for its first thread.
}

__device__ inline void count_block(unsigned int* blocks_done) {
    __threadfence(); // Whoever sees this block counted sees what it wrote.
    atomicAdd(blocks_done, 1u);
}

/// A later pass whose output is its input: block b stores its sum in a word that another block may still
/// read.
__global__ void sums_onto_its_input(int* data, unsigned int n, unsigned int* blocks_done) {
    let_block_0_come_last(blocks_done);
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int sum = sum_of_block(i < n ? data[i] : 0);
    if (threadIdx.x == 0) {
        data[blockIdx.x] = sum; // wrong
        count_block(blocks_done);
    }
}

/// Zeroes the sum that other blocks add to.
__global__ void zeroes_the_sum(const int* input, int* sum, unsigned int* blocks_done) {
    let_block_0_come_last(blocks_done);
    if (blockIdx.x == 0 && threadIdx.x == 0) *sum = 0; // wrong
    const int block_sum = sum_of_block(input[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0) {
        atomicAdd(sum, block_sum);
        count_block(blocks_done);
    }
}

/// How often a grid-stride loop goes round for the thread that starts at `first`, but no more than `most`
/// times. `Index` is the type of its index.
template <class Index>
__global__ void count_turns(Index first, Index n, Index grid_stride, int most, int* turns) {
    int count = 0;
    for (Index i = first; i < n && count < most; i += grid_stride) ++count;
    *turns = count;
}

/// As many whole vectors for each thread as the host's integer divisions leave. Does not know n.
__global__ void whole_vectors(const int4* input, int* partial_sums, unsigned int vectors_a_thread) {
    const unsigned int i = blockIdx.x * (blockDim.x * vectors_a_thread) + threadIdx.x;
    int sum = 0;
    for (unsigned int k = 0; k < vectors_a_thread; ++k) {
        const int4 four = input[i + k * blockDim.x];
        sum += four.x + four.y + four.z + four.w;
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = sum;
}

/// Guards a vector's first element, and reads all four.
__global__ void guards_the_first_of_four(const int* input, int* partial_sums, unsigned int n) {
    const unsigned int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    int sum = 0;
    if (i < n) { // wrong
        const int4 four = *reinterpret_cast<const int4*>(input + i);
        sum = four.x + four.y + four.z + four.w;
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = sum;
}

/// The first step of a tree over eight lanes that starts at 16, as for a whole warp: lanes 0 to 7 ask for the
/// values of lanes 16 to 23, which the mask does not name.
__global__ void shuffles_from_unnamed_lanes(const int* input, int* sums) {
    const unsigned int lane = threadIdx.x;
    const int value = input[lane];
    int sum = value;
    if (lane < 8) sum += __shfl_down_sync(0xff, value, 16); // wrong
    sums[lane] = sum;
}

/// Right: a segment of eight lanes, and steps of 4, 2 and 1.
__global__ void shuffles_among_eight(const int* input, int* sums) {
    const unsigned int lane = threadIdx.x;
    int sum = input[lane];
    if (lane < 8) {
        for (unsigned int distance = 4; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xff, sum, distance, 8);
        }
    }
    sums[lane] = sum;
}

/// Every thread adds its block's first element.
__global__ void forgets_tid(const int* input, int* partial_sums) {
    const int sum = sum_of_block(input[blockIdx.x * blockDim.x]); // wrong
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = sum;
}

/// The bank of the word that each thread of a 32 x 16 block reads from a tile of rows of 32 + padding words,
/// when it reads down the columns: row and column are those of the transposed tile.
__global__ void banks_of_a_column_read(int* banks, unsigned int padding) {
    extern __shared__ int tile[];
    const unsigned int width = blockDim.x + padding;
    const unsigned int idx = threadIdx.y * blockDim.x + threadIdx.x;
    const unsigned int row = idx % blockDim.y, col = idx / blockDim.y;

    tile[threadIdx.y * width + threadIdx.x] = static_cast<int>((threadIdx.y * width + threadIdx.x) % 32);
    __syncthreads(); // The whole tile is stored before another thread reads it.
    banks[idx] = tile[row * width + col];
}

/// A reference that halves: with an odd number of values left it forgets the last one.
inline int halving_sum(std::vector<int> values) {
    while (values.size() > 1) {
        const std::size_t half = values.size() / 2;
        for (std::size_t i = 0; i < half; ++i) values[i] += values[i + half];
        values.resize(half); // wrong
    }
    return values.front();
}

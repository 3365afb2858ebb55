// Shared memory that nobody has written.
#include "../programs.hpp"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// ---- shared_tail --------------------------------------------------------------------------------
// Threads beyond the end load nothing, and store no zero either.
__global__ void reduce_block(const int* in, int* out, unsigned int n) {
    __shared__ int sums[64];
    const unsigned int tid = threadIdx.x;
    if (tid < n) sums[tid] = in[tid];
    __syncthreads();
    for (unsigned int stride = 32; stride > 0; stride /= 2) {
        if (tid < stride) {
            const int other = sums[tid + stride]; // expect: init, uninitialized read
            sums[tid] += other;
        }
        __syncthreads();
    }
    if (tid == 0) *out = sums[0];
}

LAUNCHES(shared_tail) {
    constexpr unsigned int n = 50;
    const Memory<int> in(n, 0), out(1);
    reduce_block<<<1, 64>>>(in, out, n);
}

// ---- shared_halo --------------------------------------------------------------------------------
// Of a tile with a border on both sides only the left one is loaded.
__global__ void smooth(const float* in, float* out, int n) {
    extern __shared__ float tile[];
    const int tid = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x * blockDim.x) + tid;
    tile[tid + 1] = i < n ? in[i] : 0.0f;
    if (tid == 0) tile[0] = i > 0 ? in[i - 1] : 0.0f;
    __syncthreads();
    const float right = tile[tid + 2]; // expect: init, uninitialized read
    if (i < n) out[i] = tile[tid] + tile[tid + 1] + right;
}

LAUNCHES(shared_halo) {
    constexpr int n = 256, block = 64;
    const Memory<float> in(n, 0), out(n);
    smooth<<<n / block, block, (block + 2) * sizeof(float)>>>(in, out, n);
}

// ---- shared_of_an_earlier_block -----------------------------------------------------------------
// Only the first block fills the table, but every block has its own.
__global__ void look_up(int* out) {
    __shared__ int table[32];
    const unsigned int tid = threadIdx.x;
    if (blockIdx.x == 0) table[tid] = static_cast<int>(tid * tid);
    __syncthreads();
    out[blockIdx.x * blockDim.x + tid] = table[31 - tid]; // expect: init, uninitialized read
}

LAUNCHES(shared_of_an_earlier_block) {
    const Memory<int> out(4 * 32);
    look_up<<<4, 32>>>(out);
}

// ---- cluster_shared_tail ------------------------------------------------------------------------
// The last threads of the second block have nothing to store, and the first block reads all.
__global__ void __cluster_dims__(2) tail_is_read(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    if (i < 100) values[tid] = in[i];
    cluster.sync();
    if (cluster.block_rank() == 0)
        out[tid] = *cluster.map_shared_rank(&values[tid], 1); // expect: init, uninitialized read
    cluster.sync();
}

LAUNCHES(cluster_shared_tail) {
    const Memory<int> in(128, 1), out(128, 0);
    tail_is_read<<<2, 64>>>(in, out);
}

// ---- correct_cluster_filled_by_another ----------------------------------------------------------
// Correct: block 0 fills the shared memory of all blocks.
__global__ void __cluster_dims__(4) filled(const int* in, int* out) {
    __shared__ int values[32];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 0)
        for (unsigned int rank = 0; rank < 4; ++rank)
            cluster.map_shared_rank(values, rank)[tid] = in[32 * rank + tid];
    cluster.sync();
    out[blockIdx.x * 32 + tid] = values[31 - tid];
}

LAUNCHES(correct_cluster_filled_by_another) {
    const Memory<int> in(128, 1), out(128, 0);
    filled<<<4, 32>>>(in, out);
}

// ---- correct_views_of_one_memory ----------------------------------------------------------------
// Correct: one piece of shared memory holds doubles, ints and bytes; what was written as ints is read as
// bytes, as vectors and as whatever else.
__global__ void carve_up(int* out, int n) {
    extern __shared__ double doubles[];
    int* const ints = reinterpret_cast<int*>(doubles + n);
    char* const bytes = reinterpret_cast<char*>(ints + n);
    const int i = static_cast<int>(threadIdx.x), other = n - 1 - i;
    doubles[i] = i;
    ints[i] = i;
    bytes[i] = static_cast<char>(i);
    __syncthreads();
    out[i] = static_cast<int>(doubles[other]) + ints[other] + bytes[other];
}

__global__ void look_differently(int* out) {
    __shared__ union {
        int ints[64];
        char bytes[256];
        float4 vectors[16];
    } all;
    const int i = static_cast<int>(threadIdx.x);
    all.ints[i] = i;
    __syncwarp();
    all.bytes[4 * i + 1] = 7;
    __syncthreads();
    const float4 vector = all.vectors[i / 4];
    __syncthreads();
    if (i < 16) all.vectors[i] = {vector.w, vector.z, vector.y, vector.x};
    __syncthreads();
    out[i] = all.ints[63 - i] + all.bytes[i];
}

LAUNCHES(correct_views_of_one_memory) {
    const Memory<int> out(64);
    carve_up<<<1, 51, 51 * 13>>>(out, 51);
    look_differently<<<1, 64>>>(out);
}

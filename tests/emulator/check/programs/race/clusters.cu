// The shared memory of a cluster's blocks.
#include "../programs.hpp"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// ---- cluster_block_barrier_only -----------------------------------------------------------------
// A __syncthreads() covers one block: the other one may not have written its values yet.
__global__ void __cluster_dims__(2) neighbors(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    values[tid] = 0;
    cluster.sync();
    values[tid] = in[i]; // expect: race, write after read
    __syncthreads();
    out[i] = *cluster.map_shared_rank(&values[tid], cluster.block_rank() ^ 1);
    cluster.sync();
}

LAUNCHES(cluster_block_barrier_only) {
    const Memory<int> in(128, 1), out(128, 0);
    neighbors<<<2, 64>>>(in, out);
}

// ---- cluster_exit_too_early ---------------------------------------------------------------------
// Block 0 may exit, and its shared memory end, before block 1 has read it.
__global__ void __cluster_dims__(2) last_words(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x;
    values[tid] = in[blockIdx.x * 64 + tid];
    cluster.sync();
    if (cluster.block_rank() == 1)
        out[tid] = *cluster.map_shared_rank(&values[tid], 0); // expect: race, exit after read
}

LAUNCHES(cluster_exit_too_early) {
    const Memory<int> in(128, 1), out(128, 0);
    last_words<<<2, 64>>>(in, out);
}

// ---- cluster_overwritten_too_early --------------------------------------------------------------
// Stores the next value while the other block may still read the previous one.
__global__ void __cluster_dims__(2) two_rounds(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    const int* const others = cluster.map_shared_rank(values, cluster.block_rank() ^ 1);
    values[tid] = in[i];
    cluster.sync();
    int sum = others[tid]; // expect: race, read after write
    values[tid] = 2 * in[i] + tid;
    cluster.sync();
    sum += others[tid];
    out[i] = sum;
    cluster.sync();
}

LAUNCHES(cluster_overwritten_too_early) {
    const Memory<int> in(128, 1), out(128, 0);
    two_rounds<<<2, 64>>>(in, out);
}

// ---- cluster_read_before_the_wait ---------------------------------------------------------------
// Arriving at the barrier does not mean that the others have: only the wait does.
__global__ void __cluster_dims__(2) between(const int* in, int* out) {
    __shared__ int values[64];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    values[tid] = 0;
    cluster.sync();
    values[tid] = in[i]; // expect: race, write after read
    auto token = cluster.barrier_arrive();
    out[i] = *cluster.map_shared_rank(&values[tid], cluster.block_rank() ^ 1);
    cluster.barrier_wait(std::move(token));
    cluster.sync();
}

LAUNCHES(cluster_read_before_the_wait) {
    const Memory<int> in(128, 1), out(128, 0);
    between<<<2, 64>>>(in, out);
}

// ---- cluster_relaxed_arrival --------------------------------------------------------------------
// A relaxed arrival does not release earlier writes.
__global__ void __cluster_dims__(2) relaxed(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    values[tid] = in[i] + tid;
    __cluster_barrier_arrive_relaxed();
    __cluster_barrier_wait();
    out[i] =
        *cluster.map_shared_rank(&values[tid], cluster.block_rank() ^ 1); // expect: race, read after write
    cluster.sync();
}

LAUNCHES(cluster_relaxed_arrival) {
    const Memory<int> in(128, 1), out(128, 0);
    relaxed<<<2, 64>>>(in, out);
}

// ---- cluster_store_before_start -----------------------------------------------------------------
// Stores in the other block's shared memory at once. That block may not have started yet.
__global__ void __cluster_dims__(2) store_at_once(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    int* const others = cluster.map_shared_rank(values, cluster.block_rank() ^ 1);
    others[tid] = in[i]; // expect: race, write before start
    cluster.sync();
    out[i] = values[tid];
}

LAUNCHES(cluster_store_before_start) {
    const Memory<int> in(128, 1), out(128, 0);
    store_at_once<<<2, 64>>>(in, out);
}

// ---- cluster_sum_without_atomics ----------------------------------------------------------------
// One thread of each block adds to a sum in block 0: two of them may read the same old value.
__global__ void __cluster_dims__(4) add_up(const int* in, int* out) {
    __shared__ int sum;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    int& first = *cluster.map_shared_rank(&sum, 0);
    if (threadIdx.x == 0) {
        first += in[blockIdx.x]; // expect: race, read after write // expect: race, write after write
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) *out = sum;
}

LAUNCHES(cluster_sum_without_atomics) {
    const Memory<int> in(128, 1), out(128, 0);
    add_up<<<4, 32>>>(in, out);
}

// ---- correct_cluster_of_one_block ---------------------------------------------------------------
// Correct: without clusters each block is its own cluster, and the cluster barrier is the block's.
__global__ void alone(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x;
    values[tid] = in[tid];
    cluster.sync();
    out[blockIdx.x * 64 + tid] = *cluster.map_shared_rank(&values[63 - tid], 0);
}

LAUNCHES(correct_cluster_of_one_block) {
    const Memory<int> in(64, 1), out(128);
    alone<<<2, 64>>>(in, out);
}

// ---- correct_cluster_one_warp_waits -------------------------------------------------------------
// Correct: one warp waits at the cluster barrier, and the block's own barrier passes its knowledge on; one
// warp arrives for what another has written after its own arrival.
__global__ void __cluster_dims__(2) one_waits(const int* in, int* out) {
    __shared__ int values[64], late;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid, other = cluster.block_rank() ^ 1;
    values[tid] = in[i];
    if (tid < 32) __cluster_barrier_arrive();
    if (tid == 0) late = in[i];
    __syncthreads();
    if (tid >= 32) __cluster_barrier_arrive();
    if (tid < 32) __cluster_barrier_wait();
    __syncthreads();
    out[i] = *cluster.map_shared_rank(&values[63 - tid], other) + *cluster.map_shared_rank(&late, other);
    if (tid >= 32) __cluster_barrier_wait();
    cluster.sync();
}

LAUNCHES(correct_cluster_one_warp_waits) {
    const Memory<int> in(128, 1), out(128);
    one_waits<<<2, 64>>>(in, out);
}

// ---- correct_cluster_reduction ------------------------------------------------------------------
// Correct: blocks sum up through the shared memory of block 0.
__global__ void __cluster_dims__(4) reduce(const int* in, int* out) {
    __shared__ int values[32];
    __shared__ int sum;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x;
    values[tid] = in[blockIdx.x * 32 + tid];
    if (tid == 0) sum = 0;
    __syncthreads();
    for (unsigned int stride = 16; stride > 0; stride /= 2) {
        if (tid < stride) values[tid] += values[tid + stride];
        __syncthreads();
    }
    cluster.sync();
    if (tid == 0) atomicAdd(cluster.map_shared_rank(&sum, 0), values[0]);
    if (tid < 4 && cluster.block_rank() == 1) out[1 + tid] = *cluster.map_shared_rank(&values[0], tid);
    cluster.sync();
    if (cluster.block_rank() == 0 && tid == 0) *out = sum;
}

LAUNCHES(correct_cluster_reduction) {
    const Memory<int> in(128, 1), out(128, 0);
    reduce<<<4, 32>>>(in, out);
}

// ---- correct_cluster_relaxed_with_fence ---------------------------------------------------------
// Correct: the fence releases what the relaxed arrival does not.
__global__ void __cluster_dims__(2) fenced(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    values[tid] = in[i] + tid;
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    __cluster_barrier_arrive_relaxed();
    __cluster_barrier_wait();
    out[i] = *cluster.map_shared_rank(&values[tid], cluster.block_rank() ^ 1);
    cluster.sync();
}

LAUNCHES(correct_cluster_relaxed_with_fence) {
    const Memory<int> in(128, 1), out(128, 0);
    fenced<<<2, 64>>>(in, out);
}

// ---- correct_cluster_relaxed_start --------------------------------------------------------------
// Correct: all blocks have started where one warp has waited, even if nobody releases anything.
__global__ void __cluster_dims__(2) start_relaxed(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    __cluster_barrier_arrive_relaxed();
    if (tid < 32) __cluster_barrier_wait();
    __syncthreads();
    cluster.map_shared_rank(values, cluster.block_rank() ^ 1)[tid] = in[i];
    if (tid >= 32) __cluster_barrier_wait();
    cluster.sync();
    out[i] = values[tid];
}

LAUNCHES(correct_cluster_relaxed_start) {
    const Memory<int> in(128, 1), out(128, 0);
    start_relaxed<<<2, 64>>>(in, out);
}

// ---- correct_cluster_ring -----------------------------------------------------------------------
// Correct: each block stores its values in the next one, round after round, in two buffers.
__global__ void __cluster_dims__(4) ring(const int* in, int* out) {
    __shared__ int values[2][32];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 32 % 128 + tid;
    const unsigned int next = (cluster.block_rank() + 1) % cluster.num_blocks();
    values[0][tid] = in[i] + i;
    for (int turn = 0; turn < 3; ++turn) {
        cluster.sync();
        cluster.map_shared_rank(values[(turn + 1) % 2], next)[tid ^ 1] = values[turn % 2][tid];
    }
    cluster.sync();
    if (blockIdx.x < 4) out[i] = values[1][tid];
}

LAUNCHES(correct_cluster_ring) {
    const Memory<int> in(128, 1), out(128, 0);
    ring<<<8, 32>>>(in, out);
}

// ---- correct_cluster_split_barrier --------------------------------------------------------------
// Correct: between arriving and waiting each block uses only its own memory.
__global__ void __cluster_dims__(2) split(const int* in, int* out) {
    __shared__ int values[64], own[64];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    values[tid] = in[i];
    auto token = cluster.barrier_arrive();
    own[tid] = in[i] * 2;
    __syncthreads();
    const int mine = own[tid ^ 33];
    cluster.barrier_wait(std::move(token));
    out[i] = mine + cluster.map_shared_rank(values, cluster.block_rank() ^ 1)[63 - tid];
    token = cluster.barrier_arrive();
    own[tid ^ 33] = mine;
    cluster.barrier_wait(std::move(token));
    values[tid] = 0;
}

LAUNCHES(correct_cluster_split_barrier) {
    const Memory<int> in(128, 1), out(128, 0);
    split<<<2, 64>>>(in, out);
}

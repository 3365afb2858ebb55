// Barriers of a block and of a cluster.
#include "../programs.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <utility>

namespace cg = cooperative_groups;

#pragma nv_diag_suppress static_var_with_dynamic_init

// ---- barriers_in_both_branches ------------------------------------------------------------------
// Both branches have a barrier, but it is not the same one.
__global__ void add_two_neighbors(int* data) {
    __shared__ int values[64];
    const unsigned int tid = threadIdx.x;
    values[tid] = data[tid];
    if (tid % 2 == 1) {
        __syncthreads();
        data[tid] = values[tid - 1];
    } else {
        __syncthreads(); // expect: sync, barrier in divergent code
        data[tid] = 2 * values[tid + 1];
    }
}

LAUNCHES(barriers_in_both_branches) {
    const Memory<int> data(64, 0);
    add_two_neighbors<<<1, 64>>>(data);
}

// ---- loop_of_different_length -------------------------------------------------------------------
// A barrier in a loop whose number of rounds differs from lane to lane.
__global__ void sums(const int* in, int* out, int n) {
    __shared__ int tile[64];
    const int tid = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int i = tid; i < n; i += 64) {
        tile[tid] = in[i];
        __syncthreads(); // expect: sync, barrier not reached by all
        sum += tile[0];
        __syncthreads();
    }
    out[tid] = sum;
}

LAUNCHES(loop_of_different_length) {
    const Memory<int> in(80, 0), out(64);
    sums<<<1, 64>>>(in, out, 80);
}

// ---- more_threads_than_there_are ----------------------------------------------------------------
// The barrier expects 96 threads, as in a larger block.
__global__ void meet_96() {
    asm volatile("bar.sync 1, 96;"); // expect: sync, wrong number of threads
}

LAUNCHES(more_threads_than_there_are) { meet_96<<<1, 64>>>(); }

// ---- numbers_that_differ ------------------------------------------------------------------------
// One warp waits for 64 threads at barrier 1, the other for all threads.
__global__ void meet_64_or_all() {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 1;"); // expect: sync, wrong number of threads
}

LAUNCHES(numbers_that_differ) { meet_64_or_all<<<1, 64>>>(); }

// ---- part_of_a_warp -----------------------------------------------------------------------------
// A named barrier counts whole warps, and 40 threads are not whole warps.
__global__ void meet_40(int count) {
    asm volatile("bar.sync 1, %0;" ::"r"(count)); // expect: sync, wrong barrier
}

LAUNCHES(part_of_a_warp) { meet_40<<<1, 64>>>(40); }

// ---- crosswise ----------------------------------------------------------------------------------
// The two warps wait at two named barriers in opposite order: each waits for the other.
__global__ void meet_crosswise() {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;"); // expect: sync, barrier not reached by all
        asm volatile("bar.sync 2, 64;");
    } else {
        asm volatile("bar.sync 2, 64;");
        asm volatile("bar.sync 1, 64;");
    }
}

LAUNCHES(crosswise) { meet_crosswise<<<1, 64>>>(); }

// ---- mbarrier_for_too_many ----------------------------------------------------------------------
// A barrier for one arrival more than there are threads: all of them wait for it.
__global__ void one_arrival_is_missing(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> all_have_come;
    if (threadIdx.x == 0) init(&all_have_come, blockDim.x + 1);
    __syncthreads();
    all_have_come.arrive_and_wait(); // expect: sync, barrier not reached by all
    out[threadIdx.x] = 1;
}

LAUNCHES(mbarrier_for_too_many) {
    const Memory<int> out(64);
    one_arrival_is_missing<<<1, 64>>>(out);
}

// ---- pipeline_without_producer ------------------------------------------------------------------
// Warp 1 waits for a tile that warp 0 never commits.
__global__ void nothing_is_committed(const int* in, int* out) {
    __shared__ int tile[32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
    const bool brings = threadIdx.x < 32;
    auto pipeline =
        cuda::make_pipeline(cooperative_groups::this_thread_block(), &state,
                            brings ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    if (brings) {
        pipeline.producer_acquire();
        tile[threadIdx.x] = in[threadIdx.x];
    } else {
        pipeline.consumer_wait(); // expect: sync, barrier not reached by all
        out[threadIdx.x - 32] = tile[threadIdx.x - 32];
        pipeline.consumer_release();
    }
}

LAUNCHES(pipeline_without_producer) {
    const Memory<int> in(32, 1), out(32);
    nothing_is_committed<<<1, 64>>>(in, out);
}

// ---- cluster_against_block_barrier --------------------------------------------------------------
// One warp waits for its block, the other for the cluster: neither wait ends.
__global__ void __cluster_dims__(2) crossed(const int* in, int* out) {
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x < 32) {
        __syncthreads(); // expect: sync, barrier not reached by all
        cluster.sync();
    } else {
        cluster.sync();
        __syncthreads();
    }
    out[i] = in[i];
}

LAUNCHES(cluster_against_block_barrier) {
    const Memory<int> in(128, 1), out(128, 0);
    crossed<<<2, 64>>>(in, out);
}

// ---- cluster_arrival_without_wait ---------------------------------------------------------------
// The threads arrive at the end, and do not wait.
__global__ void __cluster_dims__(2) only_arrive(const int* in, int* out) {
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i];
    cluster.barrier_arrive(); // expect: sync, arrival without a wait
}

LAUNCHES(cluster_arrival_without_wait) {
    const Memory<int> in(128, 1), out(128, 0);
    only_arrive<<<2, 64>>>(in, out);
}

// ---- cluster_wait_without_arrival ---------------------------------------------------------------
// Half of the threads wait twice, and have arrived once.
__global__ void __cluster_dims__(2) wait_twice(const int* in, int* out) {
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned int i = blockIdx.x * 64 + threadIdx.x;
    cluster.sync();
    if (threadIdx.x < 32) __cluster_barrier_wait(); // expect: sync, wrong cluster barrier
    out[i] = in[i];
}

LAUNCHES(cluster_wait_without_arrival) {
    const Memory<int> in(128, 1), out(128, 0);
    wait_twice<<<2, 64>>>(in, out);
}

// ---- correct_barrier_in_a_last_branch -----------------------------------------------------------
// Correct since compute capability 7.0, if not wise: the even threads exit, and the barrier waits for the odd
// ones.
__global__ void add_neighbor(int* data) {
    __shared__ int values[64];
    const unsigned int tid = threadIdx.x;
    values[tid] = data[tid];
    if (tid % 2 == 1) {
        __syncthreads();
        data[tid] += values[tid - 1];
    }
}

LAUNCHES(correct_barrier_in_a_last_branch) {
    const Memory<int> data(64, 0);
    add_neighbor<<<1, 64>>>(data);
}

// ---- correct_early_return -----------------------------------------------------------------------
// Correct since compute capability 7.0: the threads past the end return, and the barrier waits for the
// others.
__global__ void reverse(int* data, int n) {
    __shared__ int values[128];
    const int tid = static_cast<int>(threadIdx.x);
    if (tid >= n) return;
    values[tid] = data[tid];
    __syncthreads();
    data[tid] = values[n - 1 - tid];
}

LAUNCHES(correct_early_return) {
    const Memory<int> data(100, 0);
    reverse<<<1, 128>>>(data, 100);
}

// ---- correct_cluster_early_return ---------------------------------------------------------------
// Correct: the threads past the end return, and the cluster barrier waits for the others, on a card too.
__global__ void __cluster_dims__(2) tail_returns(const int* in, int* out) {
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= 100) return;
    cluster.sync();
    out[i] = in[i];
}

LAUNCHES(correct_cluster_early_return) {
    const Memory<int> in(128, 1), out(128, 0);
    tail_returns<<<2, 64>>>(in, out);
}

// ---- correct_named_barriers ---------------------------------------------------------------------
// Correct: named barriers of some warps, others that have exited by then, and one that is only arrived at.
__global__ void in_groups(int* data) {
    __shared__ int values[128];
    const unsigned int tid = threadIdx.x;
    values[tid] = data[tid];
    if (tid < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        data[tid] = values[63 - tid];
    } else if (tid < 96) {
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        data[tid] = values[tid - 32];
    }
}

LAUNCHES(correct_named_barriers) {
    const Memory<int> data(128, 0);
    in_groups<<<2, 128>>>(data);
}

// ---- correct_cooperative_groups -----------------------------------------------------------------
// Correct: groups of every kind and size, and what they offer: barriers in two halves, exchanges, partitions
// by a value, one lane that does something for all.
// options: --global-races
__device__ int in_tiles(const int* in, int* values, const cg::thread_block& block) {
    const auto warp = cg::tiled_partition<32>(block);
    const auto half = cg::tiled_partition<16>(block);
    const auto quarter = cg::tiled_partition<8>(warp);
    const auto pair = cg::tiled_partition<2>(quarter);
    const unsigned int tid = block.thread_rank();
    int sum = values[tid] = in[tid];
    half.sync();
    sum += values[tid ^ 15];
    half.sync();
    values[tid] = sum;
    pair.sync();
    sum += values[tid ^ 1];
    pair.sync();
    sum += half.shfl_down(sum, 3) + quarter.shfl_up(sum, 1) + pair.shfl_xor(sum, 1);
    if (half.any(sum > 3)) sum += static_cast<int>(half.ballot(sum % 2 == 0));
    // One quarter of the warp goes one way, the next one the other.
    if (quarter.meta_group_rank() % 2 == 0) {
        sum += cg::reduce(quarter, sum, cg::greater<int>());
        values[tid] = sum;
        quarter.sync();
        sum = values[tid ^ 7];
        quarter.sync();
    } else {
        sum += cg::exclusive_scan(quarter, sum, cg::plus<int>());
    }
    return sum + static_cast<int>(quarter.match_any(sum));
}

__device__ int in_partitions(int sum, int* values, const cg::thread_block& block) {
    const auto warp = cg::tiled_partition<32>(block);
    const unsigned int tid = block.thread_rank();
    const auto thirds = cg::binary_partition(warp, tid % 3 == 1);
    sum += thirds.shfl(sum, 0) + cg::reduce(thirds, sum, cg::plus<int>());
    const auto fifths = cg::labeled_partition(warp, tid % 5);
    sum += cg::reduce(fifths, sum, cg::plus<int>());
    if (tid % 4 == 0) {
        const auto active = cg::coalesced_threads();
        const unsigned int first = active.shfl(tid, 0);
        values[tid] = cg::reduce(active, sum, cg::plus<int>());
        active.sync();
        sum += values[first];
    }
    return sum;
}

__global__ void groups(const int* in, int* out, int* count) {
    __shared__ int values[128], of_warp[4];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const unsigned int tid = block.thread_rank();
    int sum = in_tiles(in, values, block);
    block.sync();
    sum += in_partitions(sum, values, block);
    block.sync();
    values[tid] = sum;
    auto token = block.barrier_arrive();
    sum += in[127 - tid];
    block.barrier_wait(std::move(token));
    sum += values[127 - tid];
    cg::invoke_one(warp, [&] { of_warp[warp.meta_group_rank()] = sum; });
    warp.sync();
    sum += of_warp[warp.meta_group_rank()];
    if (sum % 2 == 0) {
        const auto active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(count, static_cast<int>(active.size()));
    }
    out[128 * blockIdx.x + tid] = sum;
}

LAUNCHES(correct_cooperative_groups) {
    const Memory<int> in(128, 1), out(2 * 128), count(1, 0);
    groups<<<2, 128>>>(in, out, count);
}

// Races between the threads of one block, in its shared memory.
#include "../programs.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/atomic>

namespace cg = cooperative_groups;

// ---- read_too_early -----------------------------------------------------------------------------
// Each thread reads what another warp writes, without waiting for it.
__global__ void reverse(int* data) {
    __shared__ int tile[128];
    const unsigned int tid = threadIdx.x;
    tile[tid] = data[tid];       // expect: race, write after read
    data[tid] = tile[127 - tid]; // expect: init, uninitialized read
}

LAUNCHES(read_too_early) {
    const Memory<int> data(128, 0);
    reverse<<<1, 128>>>(data);
}

// ---- overwritten_too_early ----------------------------------------------------------------------
// A tile is used in every round. The barrier that lets all read it is there; the one before it is written
// again is not.
__global__ void sum_of_neighbors(const int* in, int* out, int rounds) {
    __shared__ int tile[64];
    const int tid = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        tile[tid] = in[round * 64 + tid];
        __syncthreads();
        sum += tile[(tid + 32) % 64]; // expect: race, read after write
    }
    out[tid] = sum;
}

LAUNCHES(overwritten_too_early) {
    const Memory<int> in(4 * 64), out(64);
    for (int i = 0; i < 4; ++i) cudaMemset(in + 64 * i, i, 64 * sizeof(int));
    sum_of_neighbors<<<1, 64>>>(in, out, 4);
}

// ---- two_threads_one_place ----------------------------------------------------------------------
// Two threads of different warps write to each location: the index is wrong.
__global__ void squares(int* out) {
    __shared__ int values[64];
    const unsigned int tid = threadIdx.x;
    values[tid % 64] = static_cast<int>(tid * tid); // expect: race, write after write
    __syncthreads();
    if (tid < 64) out[tid] = values[tid];
}

LAUNCHES(two_threads_one_place) {
    const Memory<int> out(64);
    squares<<<1, 128>>>(out);
}

// ---- lanes_at_one_place -------------------------------------------------------------------------
// Lanes of one warp write different values to one location with one instruction.
__global__ void last_odd(const int* in, int* out) {
    __shared__ int last;
    const unsigned int tid = threadIdx.x;
    if (tid == 0) last = -1;
    __syncwarp();
    if (in[tid] % 2 == 1) last = static_cast<int>(tid); // expect: race, write after write
    __syncwarp();
    if (tid == 0) *out = last;
}

LAUNCHES(lanes_at_one_place) {
    const Memory<int> in(32, 1), out(1);
    last_odd<<<1, 32>>>(in, out);
}

// ---- bits_without_atomics -----------------------------------------------------------------------
// Each thread sets its own bit, but the bits share a byte, and setting one writes all of them.
__global__ void mark_odd(const unsigned char* in, unsigned char* out) {
    __shared__ unsigned char bits[8];
    const unsigned int tid = threadIdx.x;
    if (tid < 8) bits[tid] = 0;
    __syncthreads();
    if (in[tid] % 2 == 1) {
        bits[tid % 8] |= 1 << tid / 8; // expect: race, write after read // expect: race, write after write
    }
    __syncthreads();
    if (tid < 8) out[tid] = bits[tid];
}

LAUNCHES(bits_without_atomics) {
    const Memory<unsigned char> in(64, 1), out(8);
    mark_odd<<<1, 64>>>(in, out);
}

// ---- tree_without_barrier -----------------------------------------------------------------------
// A tree in shared memory, without a barrier between its steps.
__global__ void tree(const int* in, int* out) {
    __shared__ int sums[256];
    const unsigned int tid = threadIdx.x;
    sums[tid] = in[tid];
    __syncthreads();
    for (unsigned int stride = 128; stride > 0; stride /= 2) {
        if (tid < stride) sums[tid] += sums[tid + stride]; // expect: race, read after write
    }
    if (tid == 0) *out = sums[0];
}

LAUNCHES(tree_without_barrier) {
    const Memory<int> in(256, 0), out(1);
    tree<<<1, 256>>>(in, out);
}

// ---- counted_before_cleared ---------------------------------------------------------------------
// The bins are cleared, and no barrier keeps the first threads from counting before that.
__global__ void histogram(const unsigned char* in, int* out) {
    __shared__ int bins[64];
    const unsigned int tid = threadIdx.x;
    if (tid < 64) bins[tid] = 0;
    atomicAdd(&bins[in[tid] % 64], 1); // expect: race, atomic after write
    __syncthreads();
    if (tid < 64) out[tid] = bins[tid];
}

LAUNCHES(counted_before_cleared) {
    const Memory<unsigned char> in(256);
    const Memory<int> out(64);
    cudaMemset(in, 7, 256);
    histogram<<<1, 256>>>(in, out);
}

// ---- read_while_counted -------------------------------------------------------------------------
// All threads count, and one reads the count before they have finished.
__global__ void count_odd(const unsigned char* in, int* out) {
    __shared__ int count;
    const unsigned int tid = threadIdx.x;
    if (tid == 0) count = 0;
    __syncthreads();
    if (in[tid] % 2 == 1) atomicAdd(&count, 1);
    if (tid == 255) *out = count; // expect: race, read after atomic
}

LAUNCHES(read_while_counted) {
    const Memory<unsigned char> in(256);
    const Memory<int> out(1);
    cudaMemset(in, 1, 256);
    count_odd<<<1, 256>>>(in, out);
}

// ---- in_a_function ------------------------------------------------------------------------------
// Bug: the neighbor's value is taken without a barrier, in functions that the compiler puts into the kernel.
__device__ void leave(int* place, int value) { *place = value; }

__device__ int neighbor(const int* values, unsigned int i) {
    const unsigned int next = (i + 1) % 64;
    return values[next]; // expect: race, read after write // expect: init, uninitialized read
}

__global__ void add_neighbors(int* out) {
    __shared__ int values[64];
    leave(&values[threadIdx.x], static_cast<int>(threadIdx.x));
    out[threadIdx.x] = neighbor(values, threadIdx.x);
}

LAUNCHES(in_a_function) {
    const Memory<int> out(64);
    add_neighbors<<<1, 64>>>(out);
}

// ---- shuffle_is_no_barrier ----------------------------------------------------------------------
// A shuffle makes lanes wait for each other, but orders nothing that they have stored.
__global__ void rotate(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned int tid = threadIdx.x;
    values[tid] = in[tid];
    const int distance = __shfl_sync(0xffffffff, in[tid], 0);
    out[tid] = values[(tid + distance) % 32]; // expect: race, read after write
}

LAUNCHES(shuffle_is_no_barrier) {
    const Memory<int> in(32, 1), out(32);
    rotate<<<1, 32>>>(in, out);
}

// ---- half_a_warp_barrier ------------------------------------------------------------------------
// The barrier covers half a warp, but the exchange crosses halves.
__global__ void swap_halves(int* data) {
    __shared__ int values[32];
    const unsigned int tid = threadIdx.x;
    values[tid] = data[tid];
    __syncwarp(tid < 16 ? 0x0000ffff : 0xffff0000);
    data[tid] = values[tid ^ 16]; // expect: race, read after write
}

LAUNCHES(half_a_warp_barrier) {
    const Memory<int> data(32, 0);
    swap_halves<<<1, 32>>>(data);
}

// ---- volatile_without_syncwarp ------------------------------------------------------------------
// The last warp of a reduction as it was written before 2017: volatile keeps the compiler from holding values
// in registers, but the lanes need not run in step.
__global__ void sum_of_a_warp(const int* in, int* out) {
    __shared__ volatile int sums[64];
    const unsigned int tid = threadIdx.x;
    sums[tid] = in[tid];
    __syncthreads();
    if (tid < 32) {
        int sum = sums[tid] + sums[tid + 32];
        sums[tid] = sum;
        sum += sums[tid ^ 16]; // expect: race, read after write
        *out = sum;
    }
}

LAUNCHES(volatile_without_syncwarp) {
    const Memory<int> in(64, 0), out(1);
    sum_of_a_warp<<<1, 64>>>(in, out);
}

// ---- named_barrier_for_too_few ------------------------------------------------------------------
// Two warps produce and one consumes; the barrier opens when the consumer and one producer have come.
__global__ void pipeline(const int* in, int* out) {
    __shared__ int values[64];
    const unsigned int tid = threadIdx.x;
    if (tid < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[tid] = values[tid] + values[tid + 32]; // expect: race, read after write
    } else {
        values[tid - 32] = in[tid - 32];
        if (tid < 64) asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
}

LAUNCHES(named_barrier_for_too_few) {
    const Memory<int> in(64, 0), out(32);
    pipeline<<<1, 96>>>(in, out);
}

// ---- lock_without_fence -------------------------------------------------------------------------
// A lock excludes the others, but no fence orders the protected accesses before its release.
__global__ void count_warps_unsafely(int* out) {
    __shared__ int lock, count;
    if (threadIdx.x == 0) lock = count = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        const int seen = count; // expect: race, read after write
        count = seen + 1;       // expect: race, write after write
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = count;
}

LAUNCHES(lock_without_fence) {
    const Memory<int> out(1);
    count_warps_unsafely<<<1, 128>>>(out);
}

// ---- correct_bytes ------------------------------------------------------------------------------
// Correct: neighboring threads of different warps write neighboring bytes, and halves of words.
__global__ void pack(const int* in, unsigned char* out) {
    __shared__ unsigned char bytes[99];
    __shared__ unsigned short halves[99];
    const unsigned int tid = threadIdx.x;
    bytes[98 - tid] = static_cast<unsigned char>(in[tid]);
    halves[98 - tid] = static_cast<unsigned short>(in[tid]);
    bytes[98 - tid] += static_cast<unsigned char>(halves[98 - tid]);
    __syncthreads();
    out[tid] = bytes[tid];
}

LAUNCHES(correct_bytes) {
    const Memory<int> in(99, 1);
    const Memory<unsigned char> out(99);
    pack<<<2, 99>>>(in, out);
}

// ---- correct_compaction -------------------------------------------------------------------------
// Correct: a vote shows the lanes that keep their element where to store it; every warp reserves its part of
// the list with one atomic, and the readers of the list wait for all.
// options: --global-races
__global__ void keep_odd(const int* in, int* out, int* count) {
    __shared__ int kept[128], kept_count;
    const unsigned int tid = threadIdx.x, lane = tid % 32;
    if (tid == 0) kept_count = 0;
    __syncthreads();
    const int value = in[tid];
    const unsigned int odd = __ballot_sync(0xffffffff, value % 2 == 1);
    int first = 0;
    if (lane == 0) first = atomicAdd(&kept_count, __popc(odd));
    first = __shfl_sync(0xffffffff, first, 0);
    if (value % 2 == 1) kept[first + __popc(odd & ((1u << lane) - 1))] = value;
    __syncthreads();
    __shared__ int block_first;
    if (tid == 0) block_first = atomicAdd(count, kept_count);
    __syncthreads();
    for (int i = static_cast<int>(tid); i < kept_count; i += 128) out[block_first + i] = kept[i];
}

PROGRAM(correct_compaction) {
    const Memory<int> in(128), out(2 * 128), count(1, 0);
    int host[128], result = 0;
    for (int i = 0; i < 128; ++i) host[i] = i * i % 7;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    keep_odd<<<2, 128>>>(in, out, count);
    cudaMemcpy(&result, count, sizeof result, cudaMemcpyDeviceToHost);
    cudaMemcpy(host, out, 2 * sizeof(int), cudaMemcpyDeviceToHost);
    return result == 0;
}

// ---- correct_double_buffer ----------------------------------------------------------------------
// Correct: with two buffers, one barrier a round is enough.
__global__ void scan(const int* in, int* out) {
    __shared__ int sums[2][128];
    const int tid = static_cast<int>(threadIdx.x);
    int from = 0;
    sums[from][tid] = in[tid];
    __syncthreads();
    for (int distance = 1; distance < 128; distance *= 2) {
        const int to = 1 - from;
        sums[to][tid] = sums[from][tid] + (tid >= distance ? sums[from][tid - distance] : 0);
        __syncthreads();
        from = to;
    }
    out[tid] = sums[from][tid];
}

LAUNCHES(correct_double_buffer) {
    const Memory<int> in(128, 1), out(128);
    scan<<<2, 128>>>(in, out);
}

// ---- correct_flag_with_fence --------------------------------------------------------------------
// Correct: one warp leaves a value and raises a flag, with a fence between; the other one waits for the flag.
__global__ void hand_over(int* out) {
    __shared__ volatile int flag;
    __shared__ int value;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = 42;
        __threadfence_block();
        flag = 1;
    } else if (threadIdx.x == 32) {
        while (flag == 0) {
        }
        __threadfence_block();
        *out = value;
    }
}

LAUNCHES(correct_flag_with_fence) {
    const Memory<int> out(1);
    hand_over<<<4, 64>>>(out);
}

// ---- correct_handed_on --------------------------------------------------------------------------
// Correct: what a block has is handed on by a second one to a third, which never meets the first; and each
// thread has its own fence, with the barrier between fence and atomic.
// options: --global-races
__global__ void hand_on(int* memory, int* out) {
    __shared__ int seen;
    volatile int* const flags = memory + 512;
    const unsigned int tid = threadIdx.x;
    if (blockIdx.x > 0) {
        if (tid == 0) {
            while (flags[blockIdx.x - 1] == 0) {
            }
            seen = 1;
        }
        __syncthreads();
        __threadfence();
    } else {
        memory[tid] = static_cast<int>(tid);
    }
    if (blockIdx.x == 2) out[tid] = memory[tid ^ 33] + seen;
    __threadfence();
    __syncthreads();
    if (tid == 0) flags[blockIdx.x] = 1;
}

LAUNCHES(correct_handed_on) {
    const Memory<int> memory(1024, 0), out(64);
    hand_on<<<3, 64>>>(memory, out);
}

// ---- correct_named_barriers ---------------------------------------------------------------------
// Correct: one warp produces, the other consumes, with two buffers. Barriers 1 and 2 signal a full buffer, 3
// and 4 an empty one; a warp that need not wait only arrives.
__device__ void wait_at(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }
__device__ void arrive_at(int barrier) { asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory"); }

__global__ void double_values(const int* in, int* out, int rounds) {
    __shared__ int buffer[2][32];
    const int lane = static_cast<int>(threadIdx.x % 32);
    const bool produces = threadIdx.x < 32;
    for (int round = 0; round < rounds; ++round) {
        const int which = round % 2;
        if (produces) {
            if (round >= 2) wait_at(3 + which);
            buffer[which][lane] = in[round * 32 + lane];
            arrive_at(1 + which);
        } else {
            wait_at(1 + which);
            out[round * 32 + lane] = 2 * buffer[which][31 - lane];
            if (round + 2 < rounds) arrive_at(3 + which);
        }
    }
}

LAUNCHES(correct_named_barriers) {
    constexpr int rounds = 8;
    const Memory<int> in(rounds * 32, 1), out(rounds * 32);
    double_values<<<3, 64>>>(in, out, rounds);
}

// ---- correct_volatile_with_syncwarp -------------------------------------------------------------
// Correct: the last warp of a reduction with volatile, and a warp barrier after each load and each store.
__global__ void sum_with_volatile(const int* in, int* out) {
    __shared__ volatile int sums[64];
    const unsigned int tid = threadIdx.x;
    sums[tid] = in[tid];
    __syncthreads();
    if (tid < 32) {
        for (unsigned int distance = 32; distance > 0; distance /= 2) {
            const int other = sums[tid + distance];
            __syncwarp();
            sums[tid] = sums[tid] + other;
            __syncwarp();
        }
        if (tid == 0) *out = sums[0];
    }
}

LAUNCHES(correct_volatile_with_syncwarp) {
    const Memory<int> in(64, 1), out(1);
    sum_with_volatile<<<2, 64>>>(in, out);
}

// ---- correct_warps_on_their_own -----------------------------------------------------------------
// Correct: each warp has a part of the tile for itself, and needs warp barriers only; halves of a warp too.
__global__ void transpose_in_warps(const int* in, int* out) {
    __shared__ int tiles[4][16][33];
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int row = 0; row < 16; ++row) tiles[warp][row][lane] = in[row * 32 + lane];
    __syncwarp();
    int sum = 0;
    for (int column = 0; column < 32; ++column) sum += tiles[warp][lane / 2][column];
    __syncwarp();
    const unsigned int half = lane < 16 ? 0x0000ffff : 0xffff0000;
    tiles[warp][0][lane] = sum;
    __syncwarp(half);
    out[threadIdx.x] = tiles[warp][0][lane ^ 5];
}

LAUNCHES(correct_warps_on_their_own) {
    const Memory<int> in(16 * 32, 1), out(128);
    transpose_in_warps<<<2, 128>>>(in, out);
}

// ---- correct_cooperative_groups -----------------------------------------------------------------
// Correct: blocks, tiles, coalesced groups and reductions of cooperative groups, with shared memory between.
// options: --global-races
__global__ void groups(const int* in, int* out) {
    __shared__ int values[128];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const auto quarter = cg::tiled_partition<8>(warp);
    const unsigned int tid = block.thread_rank();
    values[tid] = in[tid];
    quarter.sync();
    int sum = values[tid ^ 3];
    quarter.sync();
    values[tid] = sum;
    warp.sync();
    sum += values[tid ^ 17];
    block.sync();
    values[tid] = cg::reduce(warp, sum, cg::plus<int>()) + cg::inclusive_scan(quarter, sum);
    block.sync();
    if (tid % 3 == 0) {
        const auto active = cg::coalesced_threads();
        sum += active.shfl(values[127 - tid], 0);
        active.sync();
    }
    out[block.group_index().x * 128 + tid] = sum + values[127 - tid];
}

LAUNCHES(correct_cooperative_groups) {
    const Memory<int> in(128, 1), out(2 * 128);
    groups<<<2, 128>>>(in, out);
}

// ---- correct_cub --------------------------------------------------------------------------------
// Correct: CUB's sums and scans of a block, all of which use one piece of shared memory one after the other.
// options: --global-races
constexpr int block_size = 96;

template <cub::BlockReduceAlgorithm algorithm> using Reduce = cub::BlockReduce<int, block_size, algorithm>;
using Scan = cub::BlockScan<int, block_size>;
using ReduceEight = cub::WarpReduce<int, 8>;

__global__ void sums(const int* in, int* out) {
    __shared__ union {
        Reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>::TempStorage by_warps;
        Reduce<cub::BLOCK_REDUCE_RAKING>::TempStorage raking;
        Reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>::TempStorage raking_any_order;
        Scan::TempStorage scan;
        ReduceEight::TempStorage eight[block_size / 8];
    } storage;
    const unsigned int tid = threadIdx.x;
    const int value = in[tid];
    int sum = Reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(storage.by_warps).Sum(value);
    __syncthreads();
    sum += Reduce<cub::BLOCK_REDUCE_RAKING>(storage.raking).Sum(value, 90);
    __syncthreads();
    sum += Reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(storage.raking_any_order).Sum(value);
    __syncthreads();
    int before = 0;
    Scan(storage.scan).ExclusiveSum(value, before);
    __syncthreads();
    sum += before + ReduceEight(storage.eight[tid / 8]).Sum(value, 5);
    out[block_size * blockIdx.x + tid] = sum;
}

LAUNCHES(correct_cub) {
    const Memory<int> in(block_size, 1), out(2 * block_size);
    sums<<<2, block_size>>>(in, out);
}

// ---- correct_atomic_ref -------------------------------------------------------------------------
// Correct: one thread leaves a value and releases a flag, lanes of two other warps acquire it.
__global__ void release_a_value(int* out) {
    __shared__ int flag, value;
    const unsigned int tid = threadIdx.x;
    if (tid == 0) flag = 0;
    __syncthreads();
    const cuda::atomic_ref<int, cuda::thread_scope_block> ready(flag);
    if (tid == 0) {
        value = 42;
        ready.store(1, cuda::memory_order_release);
    } else if (tid >= 32 && tid % 3 == 0) {
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        out[tid] = value;
    }
}

LAUNCHES(correct_atomic_ref) {
    const Memory<int> out(96);
    release_a_value<<<1, 96>>>(out);
}

// Asynchronous copies to shared memory.
#include "../programs.hpp"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

// ---- barrier_without_syncthreads ----------------------------------------------------------------
// Thread 0 initializes a barrier. The other threads may arrive before.
__global__ void arrive_at_once(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    barrier.arrive_and_wait(); // expect: race, atomic after write
    out[threadIdx.x] = 1;
}

LAUNCHES(barrier_without_syncthreads) {
    const Memory<int> out(128);
    arrive_at_once<<<1, 128>>>(out);
}

// ---- copies_to_one_place ------------------------------------------------------------------------
// Threads i and i + 16 of a warp copy different elements to the same location.
__global__ void bring_to_one_place(const int* in, int* out) {
    __shared__ int tile[16];
    int* const place = &tile[threadIdx.x % 16];
    __pipeline_memcpy_async(place, in + threadIdx.x, 4); // expect: race, write after write
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    out[threadIdx.x] = tile[threadIdx.x % 16];
}

LAUNCHES(copies_to_one_place) {
    const Memory<int> in(32), out(32);
    int host[32];
    for (int i = 0; i < 32; ++i) host[i] = i;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    bring_to_one_place<<<1, 32>>>(in, out);
}

// ---- copy_read_too_early ------------------------------------------------------------------------
// The wait allows one group to be in flight, and the program reads just that one.
__global__ void read_early(const int* in, int* out) {
    __shared__ int tile[128];
    tile[threadIdx.x] = 0;
    __pipeline_memcpy_async(&tile[threadIdx.x], in + threadIdx.x, sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    out[threadIdx.x] = tile[threadIdx.x]; // expect: race, read after write
    __pipeline_wait_prior(0);
}

LAUNCHES(copy_read_too_early) {
    const Memory<int> in(1024, 1), out(128);
    read_early<<<2, 128>>>(in, out);
}

// ---- copy_without_barrier -----------------------------------------------------------------------
// Each thread waits for its own copy, and then reads another thread's.
__global__ void read_others(const int* in, int* out) {
    __shared__ int tile[128];
    tile[threadIdx.x] = 0;
    __syncthreads();
    int* const own = &tile[threadIdx.x];
    __pipeline_memcpy_async(own, in + threadIdx.x, sizeof(int)); // expect: race, write after read
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

LAUNCHES(copy_without_barrier) {
    const Memory<int> in(1024, 1), out(128);
    read_others<<<2, 128>>>(in, out);
}

// ---- correct_arrivals_and_copies ----------------------------------------------------------------
// Correct: a barrier of libcu++ that threads and their copies arrive at; one phase brings a tile, the next
// one ends its use.
__global__ void by_barrier(const int* in, int* out) {
    __shared__ alignas(16) int tile[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    const auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    block.sync();
    int sum = 0;
    for (int t = 0; t < 8; ++t) {
        cuda::memcpy_async(block, tile, in + t * 128, cuda::aligned_size_t<16>(sizeof tile), barrier);
        barrier.arrive_and_wait();
        sum += tile[127 - threadIdx.x];
        barrier.wait(barrier.arrive());
    }
    tile[threadIdx.x] = sum;
    barrier.arrive_and_wait();
    out[threadIdx.x] = tile[threadIdx.x ^ 64];
}

LAUNCHES(correct_arrivals_and_copies) {
    const Memory<int> in(1024, 1), out(128);
    by_barrier<<<2, 128>>>(in, out);
}

// ---- correct_pipeline ---------------------------------------------------------------------------
// Correct: while a tile is read, asynchronous copies load the next ones. A pipeline signals when a tile is
// there, and when its place is free again.
__global__ void by_pipeline(const int* in, int* out) {
    constexpr int stages = 2, tiles = 8;
    __shared__ int tile[stages][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    const auto block = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int t = 0, next = 0; t < tiles; ++t) {
        for (; next < tiles && next < t + stages; ++next) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tile[next % stages], in + next * 128, sizeof(int) * 128, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += tile[t % stages][127 - threadIdx.x];
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}

LAUNCHES(correct_pipeline) {
    const Memory<int> in(1024, 1), out(128);
    by_pipeline<<<2, 128>>>(in, out);
}

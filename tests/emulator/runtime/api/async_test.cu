// Asynchronous copies as programs use them: pipelines, barriers, bulk copies.

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <numeric>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

namespace {

constexpr int threads = 128, tiles = 9;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

/// Every kernel adds up tiles: out[i] = the sum of in[t * threads + i] over all t, read by a different thread
/// than the one that copied it.
__device__ int mirrored() { return threads - 1 - static_cast<int>(threadIdx.x); }

__global__ void by_primitives(const int* in, int* out) {
    __shared__ int tile[2][threads];
    const int i = static_cast<int>(threadIdx.x);
    int sum = 0;
    __pipeline_memcpy_async(&tile[0][i], in + i, sizeof(int));
    __pipeline_commit();
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles)
            __pipeline_memcpy_async(&tile[(t + 1) % 2][i], in + (t + 1) * threads + i, sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[t % 2][mirrored()];
        __syncthreads();
    }
    out[mirrored()] = sum;
}

template <int stages> __global__ void by_pipeline(const int* in, int* out) {
    __shared__ int tile[stages][threads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    const auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int t = 0, next = 0; t < tiles; ++t) {
        for (; next < tiles && next < t + stages; ++next) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tile[next % stages], in + next * threads, sizeof(int) * threads,
                               pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += tile[t % stages][mirrored()];
        pipeline.consumer_release();
    }
    out[mirrored()] = sum;
}

/// The first warp brings tiles, the others add them up.
__global__ void by_roles(const int* in, int* out) {
    constexpr int stages = 2;
    __shared__ int tile[stages][threads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    const auto block = cg::this_thread_block();
    const bool brings = threadIdx.x < 32;
    auto pipeline = cuda::make_pipeline(
        block, &state, brings ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sums[2] = {0, 0};
    for (int t = 0; t < tiles; ++t) {
        if (brings) {
            pipeline.producer_acquire();
            for (unsigned int k = threadIdx.x; k < threads; k += 32)
                cuda::memcpy_async(&tile[t % stages][k], in + t * threads + k, sizeof(int), pipeline);
            pipeline.producer_commit();
        } else {
            pipeline.consumer_wait();
            sums[0] += tile[t % stages][threadIdx.x];
            if (threadIdx.x < 64) sums[1] += tile[t % stages][threadIdx.x - 32];
            pipeline.consumer_release();
        }
    }
    if (brings) return;
    out[threadIdx.x] = sums[0];
    if (threadIdx.x < 64) out[threadIdx.x - 32] = sums[1];
}

__global__ void by_barrier(const int* in, int* out) {
    __shared__ alignas(16) int tile[threads];
    __shared__ Barrier barrier;
    const auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    block.sync();
    int sum = 0;
    for (int t = 0; t < tiles; ++t) {
        cuda::memcpy_async(block, tile, in + t * threads, cuda::aligned_size_t<16>(sizeof tile), barrier);
        barrier.arrive_and_wait();
        sum += tile[mirrored()];
        barrier.wait(barrier.arrive());
    }
    out[mirrored()] = sum;
}

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
/// Thread 0 copies whole tiles; the sums also go back in one piece.
__global__ void by_bulk(const int* in, int* out) {
    __shared__ alignas(128) int tile[threads];
    __shared__ alignas(128) int sums[threads];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    int sum = 0;
    for (int t = 0; t < tiles; ++t) {
        Barrier::arrival_token token;
        if (threadIdx.x == 0) {
            cuda::device::memcpy_async_tx(tile, in + t * threads, cuda::aligned_size_t<16>(sizeof tile),
                                          barrier);
            token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile);
        } else {
            token = barrier.arrive();
        }
        barrier.wait(std::move(token));
        sum += tile[mirrored()];
        __syncthreads();
    }
    sums[mirrored()] = sum;
    cuda::device::experimental::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_shared_to_global(out, sums, sizeof sums);
        cuda::device::experimental::cp_async_bulk_commit_group();
        cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
    }
}
#else
__global__ void by_bulk(const int*, int*) {}
#endif

template <class Kernel> void expect_sums(Kernel kernel) {
    int *in = nullptr, *out = nullptr;
    ASSERT_EQ(cudaMallocManaged(&in, sizeof(int) * threads * tiles), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&out, sizeof(int) * threads), cudaSuccess);
    std::iota(in, in + threads * tiles, 5);
    kernel<<<1, threads>>>(in, out);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < threads; ++i) {
        int sum = 0;
        for (int t = 0; t < tiles; ++t) sum += in[t * threads + i];
        EXPECT_EQ(out[i], sum) << i;
    }
    EXPECT_EQ(cudaFree(in), cudaSuccess);
    EXPECT_EQ(cudaFree(out), cudaSuccess);
}

} // namespace

TEST(AsyncCopies, come_by_primitives) { expect_sums(by_primitives); }
TEST(AsyncCopies, come_by_a_pipeline_of_one_stage) { expect_sums(by_pipeline<1>); }
TEST(AsyncCopies, come_by_a_pipeline_of_three_stages) { expect_sums(by_pipeline<3>); }
TEST(AsyncCopies, come_by_a_pipeline_with_roles) { expect_sums(by_roles); }
TEST(AsyncCopies, come_by_a_barrier) { expect_sums(by_barrier); }
TEST(AsyncCopies, come_in_bulk) { expect_sums(by_bulk); } // of compute capability 9.0, as clusters are

// libcu++: atomics, barriers, pipelines, asynchronous and bulk copies, and what has no other way than PTX.

#include <cuda/annotated_ptr>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/semaphore>
#include <cuda_pipeline.h>

#include <cooperative_groups.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

template <class T, cuda::thread_scope scope> __device__ void atomic_of(T* x, T a) {
    cuda::atomic_ref<T, scope> r(*x);
    x[1] = r.load(cuda::memory_order_relaxed) + r.load(cuda::memory_order_acquire) + r.load();
    r.store(a, cuda::memory_order_relaxed);
    r.store(a, cuda::memory_order_release);
    r.store(a);
    x[2] = r.fetch_add(a, cuda::memory_order_relaxed) + r.fetch_add(a, cuda::memory_order_acquire) +
           r.fetch_add(a, cuda::memory_order_release) + r.fetch_add(a, cuda::memory_order_acq_rel) +
           r.fetch_add(a) + r.exchange(a) + r.fetch_min(a) + r.fetch_max(a);
    T expected = a;
    x[3] = r.compare_exchange_strong(expected, a) + r.compare_exchange_weak(expected, a);
}
__global__ void scopes(int* x, unsigned int* u, long long* l, unsigned long long* ul, float* f, double* d) {
    atomic_of<int, cuda::thread_scope_device>(x, 3);
    atomic_of<unsigned int, cuda::thread_scope_block>(u, 3);
    atomic_of<long long, cuda::thread_scope_system>(l, 3);
    atomic_of<unsigned long long, cuda::thread_scope_device>(ul, 3);
    atomic_of<float, cuda::thread_scope_device>(f, 3);
    atomic_of<double, cuda::thread_scope_device>(d, 3);
    atomic_of<short, cuda::thread_scope_device>(reinterpret_cast<short*>(x + 9), 3);
    atomic_of<char, cuda::thread_scope_block>(reinterpret_cast<char*>(x + 19), 3);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
    cuda::atomic_ref<int, cuda::thread_scope_device> waits(x[30]);
    waits.wait(3);
    waits.notify_all();
}
#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
__global__ void sixteen_bytes(ulonglong2* x, ulonglong2 a) {
    asm volatile("{ .reg .b128 a, b, d; mov.b128 a, {%2, %3}; ld.global.b128 b, [%4];\n"
                 "atom.global.exch.b128 d, [%4], a; atom.relaxed.gpu.global.cas.b128 d, [%4], a, b;\n"
                 "st.global.b128 [%4+16], d; mov.b128 {%0, %1}, d; }"
                 : "=l"(x[2].x), "=l"(x[2].y)
                 : "l"(a.x), "l"(a.y), "l"(x));
}
#endif

using Barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void barriers(int* x, const int* y, int n) {
    __shared__ Barrier barrier;
    extern __shared__ __align__(16) int tile[];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(tile + threadIdx.x, y + threadIdx.x, sizeof(int), barrier);
    cuda::memcpy_async(tile + 4 * threadIdx.x, y + 4 * threadIdx.x, cuda::aligned_size_t<16>(16), barrier);
    cuda::memcpy_async(tile + 2 * threadIdx.x, y + 2 * threadIdx.x, cuda::aligned_size_t<8>(8), barrier);
    cuda::memcpy_async(cg::this_thread_block(), tile, y, cuda::aligned_size_t<16>(n * 16), barrier);
    cuda::memcpy_async(cg::this_thread_block(), tile, y, n * sizeof(int), barrier);
    barrier.arrive_and_wait();
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    auto other = barrier.arrive(2);
    barrier.wait(std::move(other));
    barrier.wait_parity(true);
    x[threadIdx.x] = tile[threadIdx.x];
    barrier.arrive_and_drop();
    x[1] = cuda::barrier<cuda::thread_scope_block>::max() & 7;
}
__global__ void in_global_memory(cuda::barrier<cuda::thread_scope_device>* b,
                                 cuda::latch<cuda::thread_scope_device>* l,
                                 cuda::counting_semaphore<cuda::thread_scope_device>* s) {
    b->arrive_and_wait();
    l->arrive_and_wait();
    s->acquire();
    s->release();
}

template <unsigned int stages> __global__ void pipelines(int* x, const int* y, int n) {
    extern __shared__ __align__(16) int tile[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto pipeline = cuda::make_pipeline(cg::this_thread_block(), &state);
    for (int i = 0; i < n; ++i) {
        pipeline.producer_acquire();
        cuda::memcpy_async(tile + threadIdx.x, y + threadIdx.x, sizeof(int), pipeline);
        pipeline.producer_commit();
        pipeline.consumer_wait();
        x[threadIdx.x] += tile[threadIdx.x];
        pipeline.consumer_release();
    }
    cuda::pipeline<cuda::thread_scope_thread> own = cuda::make_pipeline();
    own.producer_acquire();
    cuda::memcpy_async(tile + threadIdx.x, y + threadIdx.x, cuda::aligned_size_t<4>(4), own);
    own.producer_commit();
    cuda::pipeline_consumer_wait_prior<1>(own);
    own.consumer_wait();
    own.consumer_release();
    x[threadIdx.x] += tile[threadIdx.x];
}
template __global__ void pipelines<1>(int*, const int*, int);
template __global__ void pipelines<3>(int*, const int*, int);
__global__ void parted_pipeline(int* x, const int* y, int n) {
    extern __shared__ __align__(16) int tile[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipeline = cuda::make_pipeline(cg::this_thread_block(), &state, role);
    for (int i = 0; i < n; ++i) {
        if (threadIdx.x < 32) {
            pipeline.producer_acquire();
            cuda::memcpy_async(tile + threadIdx.x, y + threadIdx.x, sizeof(int), pipeline);
            pipeline.producer_commit();
        } else {
            pipeline.consumer_wait();
            x[threadIdx.x] += tile[threadIdx.x];
            pipeline.consumer_release();
        }
    }
    pipeline.quit();
}
__global__ void primitives(int* x, const int* y, int n) {
    extern __shared__ __align__(16) int tile[];
    __pipeline_memcpy_async(tile + 4 * threadIdx.x, y + 4 * threadIdx.x, 16);
    __pipeline_memcpy_async(tile + 2 * threadIdx.x, y + 2 * threadIdx.x, 8, 4);
    __pipeline_memcpy_async(tile + threadIdx.x, y + threadIdx.x, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __pipeline_wait_prior(2);
    __shared__ __mbarrier_t b;
    __mbarrier_init(&b, 32);
    __pipeline_arrive_on(&b);
    const auto token = __mbarrier_arrive(&b);
    while (!__mbarrier_test_wait(&b, token)) {
    }
    x[1] = __mbarrier_token_pending_count(token);
    x[2] = __mbarrier_test_wait_parity(&b, 1) + __mbarrier_try_wait(&b, token, 100) +
           __mbarrier_try_wait_parity(&b, 0, 100);
    x[3] = __mbarrier_arrive_and_drop(&b);
    __mbarrier_inval(&b);
    x[threadIdx.x] = tile[threadIdx.x];
}

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
namespace ptx = cuda::ptx;
__global__ void bulk(int* x, const int* y, unsigned int n) {
    extern __shared__ __align__(16) int tile[];
    __shared__ Barrier barrier;
    __shared__ std::uint64_t raw;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_init(&raw, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(tile, y, cuda::aligned_size_t<16>(n * 16), barrier);
        token = cuda::device::barrier_arrive_tx(barrier, 1, n * 16);
        cuda::device::barrier_expect_tx(barrier, 0);
    } else {
        token = barrier.arrive();
    }
    barrier.wait(std::move(token));
    tile[threadIdx.x] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, x, tile, n * 16);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, y, n * 16, &raw);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, tile + 64, tile, n * 16, &raw);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, x, tile, n * 16);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &raw, n);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, &raw, n);
        ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &raw, n);
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, &raw);
        const std::uint64_t state =
            ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &raw);
        ptx::mbarrier_arrive_no_complete(&raw, 3);
        while (!ptx::mbarrier_try_wait(&raw, state)) {
        }
        while (!ptx::mbarrier_test_wait(&raw, state)) {
        }
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &raw, 0)) {
        }
        ptx::red_async(ptx::op_add, reinterpret_cast<std::uint32_t*>(tile), 3u, &raw);
        ptx::st_async(reinterpret_cast<std::uint32_t*>(tile), 3u, &raw);
    }
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);
    ptx::barrier_cluster_wait();
    int elected, leader;
    asm volatile("{ .reg .pred p; elect.sync %1|p, -1; selp.b32 %0, 1, 0, p; }"
                 : "=r"(elected), "=r"(leader));
    x[1] = elected + leader;
    x[3] = ptx::get_sreg_cluster_ctarank();
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
}
#endif
__global__ void hints(int* x, const int* y) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(y));
    asm volatile("prefetch.global.L1 [%0];" ::"l"(y + 32));
#if __CUDA_ARCH__ >= 800
    cuda::apply_access_property(y, 256, cuda::access_property::persisting{});
    cuda::discard_memory(x + 64, 256);
    x[1] = *cuda::associate_access_property(y, cuda::access_property::streaming{});
    cuda::annotated_ptr<const int, cuda::access_property::persisting> p(y);
    x[2] = p[3];
    std::uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 0.5;" : "=l"(policy));
    asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(x + 4), "r"(x[5]), "l"(policy));
#endif
}

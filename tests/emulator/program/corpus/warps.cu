// Votes, shuffles, barriers, atomics, memory operators, cooperative groups, calls.

#include <cassert>
#include <cstdio>

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void warps(int* x, unsigned int* u, long long* l, float* f, int a, unsigned int mask) {
    x[0] = __any_sync(mask, a) + __all_sync(mask, a) + __ballot_sync(mask, a) + __activemask();
    x[1] = __shfl_sync(mask, a, 3) + __shfl_up_sync(mask, a, 1, 16) + __shfl_down_sync(mask, a, 2) +
           __shfl_xor_sync(mask, a, 4);
    l[0] = __shfl_sync(mask, l[3], 3);
    f[0] = __shfl_xor_sync(mask, f[3], 3);
    u[0] = __match_any_sync(mask, a) + __match_any_sync(mask, l[4]);
    int predicate;
    u[1] = __match_all_sync(mask, a, &predicate);
    x[2] = predicate;
    u[2] = __match_all_sync(mask, l[5], &predicate);
    x[3] = predicate;
#if __CUDA_ARCH__ >= 800
    u[3] = __reduce_add_sync(mask, u[8]) + __reduce_min_sync(mask, u[9]) + __reduce_max_sync(mask, u[10]) +
           __reduce_and_sync(mask, u[11]) + __reduce_or_sync(mask, u[12]) + __reduce_xor_sync(mask, u[13]);
    x[4] = __reduce_add_sync(mask, a) + __reduce_min_sync(mask, x[9]) + __reduce_max_sync(mask, x[10]);
#endif
    __syncwarp(mask);
    x[5] = __syncthreads_and(a) + __syncthreads_or(a) + __syncthreads_count(a);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    __nanosleep(100);
    x[6] = clock() + clock64() + warpSize;
    l[6] = __isGlobal(x) + __isShared(x) + __isLocal(x) + __isConstant(x) + __isGridConstant(x);
    l[7] = __cvta_generic_to_shared(x) + __cvta_generic_to_global(x);
    unsigned int smid, lane;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(smid));
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    unsigned long long timer;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
    l[8] = timer + smid + lane;
    if (a == 77) __trap();
    if (a == 78) __brkpt();
    assert(a != 79);
    printf("%d %f %s\n", a, f[0], "text");
}

template <class T> __global__ void atomics(T* x, T a, T b) {
    x[0] = atomicAdd(x + 1, a);
    x[2] = atomicExch(x + 3, a);
    atomicAdd_block(x + 4, a);
    atomicAdd_system(x + 5, b);
}
template __global__ void atomics(int*, int, int);
template __global__ void atomics(unsigned int*, unsigned int, unsigned int);
template __global__ void atomics(unsigned long long*, unsigned long long, unsigned long long);
template __global__ void atomics(float*, float, float);
__global__ void atomics_f64(double* x, double a) {
    x[0] = atomicAdd(x + 1, a);
    atomicAdd(x + 2, a);
}
template <class T> __global__ void more_atomics(T* x, T a, T b) {
    x[0] = atomicMin(x + 1, a) + atomicMax(x + 2, a) + atomicAnd(x + 3, a) + atomicOr(x + 4, a) +
           atomicXor(x + 5, a) + atomicCAS(x + 6, a, b) + atomicCAS_block(x + 7, a, b);
    atomicMin(x + 8, a);
    atomicMax(x + 9, a);
    atomicOr(x + 10, a);
}
template __global__ void more_atomics(int*, int, int);
template __global__ void more_atomics(unsigned int*, unsigned int, unsigned int);
template __global__ void more_atomics(unsigned long long*, unsigned long long, unsigned long long);
__global__ void min_max_64(long long* x, long long a) { x[0] = atomicMin(x + 1, a) + atomicMax(x + 2, a); }
__global__ void counting(unsigned int* x, unsigned int a) {
    x[0] = atomicInc(x + 1, a) + atomicDec(x + 2, a) + atomicSub(x + 3, a);
}
__global__ void short_cas(unsigned short* x, unsigned short a, unsigned short b) {
    x[0] = atomicCAS(x + 1, a, b);
}
#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
__global__ void vector_atomics(float2* x, float4* y, float2 a, float4 b) {
    x[0] = atomicAdd(x + 1, a);
    y[0] = atomicAdd(y + 1, b);
    atomicAdd(y + 2, b);
}
#endif

template <class T> __global__ void memory(T* x, const T* y) {
    extern __shared__ char raw[];
    T* const shared = reinterpret_cast<T*>(raw);
    shared[threadIdx.x] = __ldg(y);
    x[1] = __ldcg(y + 1);
    x[2] = __ldca(y + 2);
    x[3] = __ldcs(y + 3);
    x[4] = __ldlu(y + 4);
    x[5] = __ldcv(y + 5);
    __stwb(x + 6, y[6]);
    __stcg(x + 7, y[7]);
    __stcs(x + 8, y[8]);
    __stwt(x + 9, y[9]);
    __syncthreads();
    x[10] = shared[threadIdx.x ^ 1];
    T local[8];
    for (int i = 0; i < 8; ++i) local[(i * threadIdx.x) & 7] = y[i];
    x[11] = local[threadIdx.x & 7];
}
template __global__ void memory(char*, const char*);
template __global__ void memory(short*, const short*);
template __global__ void memory(int*, const int*);
template __global__ void memory(long long*, const long long*);
template __global__ void memory(double*, const double*);
template __global__ void memory(float2*, const float2*);
template __global__ void memory(float4*, const float4*);
template __global__ void memory(double2*, const double2*);
template __global__ void memory(char4*, const char4*);
template __global__ void memory(short4*, const short4*);
__global__ void volatiles(volatile int* x, volatile float* y) {
    x[0] = x[1];
    y[0] = y[1];
    __shared__ volatile int s[32];
    s[threadIdx.x] = x[2];
    x[3] = s[threadIdx.x ^ 1];
}

__global__ void groups(int* x, int a) {
    const cg::grid_group grid = cg::this_grid();
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<16>(block);
    const auto wide = cg::tiled_partition<32>(block);
    x[0] = cg::reduce(tile, a, cg::plus<int>()) + cg::reduce(wide, a, cg::less<int>());
    x[1] = cg::inclusive_scan(tile, a) + cg::exclusive_scan(wide, a, cg::plus<int>());
    x[2] = tile.any(a) + tile.all(a) + tile.ballot(a) + tile.match_any(a) + tile.shfl_xor(a, 1);
    const auto some = cg::coalesced_threads();
    x[3] = some.size() + some.thread_rank() + some.shfl(a, 0) + cg::reduce(some, a, cg::plus<int>());
    const auto labeled = cg::labeled_partition(some, a);
    x[4] = labeled.size() + cg::binary_partition(some, a > 3).size();
    cg::invoke_one(some, [&] { x[5] = 1; });
    block.sync();
    auto token = block.barrier_arrive();
    block.barrier_wait(std::move(token));
#if __CUDA_ARCH__ >= 900
    const cg::cluster_group cluster = cg::this_cluster();
    __shared__ int mine;
    mine = a;
    cluster.sync();
    x[6] = *cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1) + cluster.num_blocks() +
           cluster.query_shared_rank(&mine);
    cluster.barrier_arrive();
    cluster.barrier_wait();
#endif
}
__global__ void async_groups(int* x, const int* y, int n) {
    extern __shared__ int tile[];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, y, sizeof(int) * n);
    cg::wait(block);
    cg::memcpy_async(block, tile, cuda::aligned_size_t<16>(64), y, cuda::aligned_size_t<16>(64));
    cg::wait_prior<1>(block);
    x[threadIdx.x] = tile[threadIdx.x];
}

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual float area(float x) const = 0;
};
struct Square : Shape {
    __device__ float area(float x) const override { return x * x; }
};
struct Circle : Shape {
    __device__ float area(float x) const override { return 3 * x * x; }
};
__global__ void virtuals(float* x, int a) {
    Square square;
    Circle circle;
    const Shape* const shapes[] = {&square, &circle};
    x[0] = shapes[a & 1]->area(x[1]);
    Shape* const fresh = a > 3 ? static_cast<Shape*>(new Square) : new Circle;
    x[2] = fresh->area(x[3]);
    delete fresh;
}
using Function = int (*)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ Function table[] = {plus, times};
__constant__ Function constant_table[] = {times, plus};
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void pointers(int* x, int a, Function f) {
    x[0] = table[a & 1](a, 3) + constant_table[a >> 1 & 1](a, 5) + f(a, 7) + fibonacci(a);
    void* const memory = malloc(16);
    x[1] = memory != nullptr;
    free(memory);
    int* const stack = static_cast<int*>(alloca(a * sizeof(int)));
    stack[a - 1] = a;
    x[2] = stack[a / 2];
}

// Global memory that several blocks use.
#include "../programs.hpp"

#include <cooperative_groups.h>

// ---- blocks_add_to_one_place --------------------------------------------------------------------
// Each block adds its part to the sum, and none of them with an atomic.
// options: --global-races
__global__ void add_blocks(const int* in, int* total) {
    int part = in[blockIdx.x * 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) part += __shfl_down_sync(0xffffffff, part, distance);
    if (threadIdx.x == 0) {
        const int before = *total; // expect: race, read after write
        *total = before + part;    // expect: race, write after write
    }
}

LAUNCHES(blocks_add_to_one_place) {
    const Memory<int> in(128, 1), total(1, 0);
    add_blocks<<<4, 32>>>(in, total);
}

// ---- stencil_in_place ---------------------------------------------------------------------------
// Each thread reads its neighbor and overwrites its own place: __syncthreads() keeps apart the threads of a
// block, but not its first one and the block before it.
// options: --global-races
__global__ void add_left_neighbor(int* data) {
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int left = i > 0 ? data[i - 1] : 0; // expect: race, read after write
    __syncthreads();
    data[i] += left;
}

LAUNCHES(stencil_in_place) {
    const Memory<int> data(256, 1);
    add_left_neighbor<<<4, 64>>>(data);
}

// ---- last_block_without_fence -------------------------------------------------------------------
// The last block to finish adds up what the others have left. They tell that they have finished, but no fence
// says that what they have left comes first.
// options: --global-races
__device__ unsigned int blocks_done = 0;

__global__ void sum_of_parts(const int* in, int* parts, int* total) {
    int part = in[blockIdx.x * 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) part += __shfl_down_sync(0xffffffff, part, distance);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part;
        if (atomicAdd(&blocks_done, 1) == gridDim.x - 1) {
            int all = 0;
            for (unsigned int k = 0; k < gridDim.x; ++k) all += parts[k]; // expect: race, read after write
            *total = all;
        }
    }
}

LAUNCHES(last_block_without_fence) {
    const Memory<int> in(128, 1), parts(4), total(1);
    sum_of_parts<<<4, 32>>>(in, parts, total);
}

// ---- correct_atomics_by_cas ---------------------------------------------------------------------
// Atomics that there are not, made of atomicCAS. The loads before them may be out of date: then they try
// again.
// options: --global-races
__device__ void add_by_cas(double* address, double value) {
    auto* const bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = *bits, assumed = 0;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
}

__device__ void raise_by_cas(float* address, float value) {
    float old = *address;
    while (value > old) {
        const float before = __int_as_float(
            atomicCAS(reinterpret_cast<int*>(address), __float_as_int(old), __float_as_int(value)));
        if (before == old) return;
        old = before;
    }
}

__global__ void sum_and_most(const float* in, double* sum, float* most) {
    __shared__ double block_sum;
    __shared__ float block_most;
    if (threadIdx.x == 0) {
        block_sum = 0;
        block_most = 0;
    }
    __syncthreads();
    const float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    add_by_cas(&block_sum, value);
    raise_by_cas(&block_most, value);
    __syncthreads();
    if (threadIdx.x != 0) return;
    add_by_cas(sum, block_sum);
    raise_by_cas(most, block_most);
}

PROGRAM(correct_atomics_by_cas) {
    constexpr int n = 256;
    const Memory<float> device_in(n), most(1, 0);
    const Memory<double> sum(1, 0);
    float in[n], result = 0;
    double expected = 0, actual = 0;
    for (int i = 0; i < n; ++i) expected += in[i] = static_cast<float>(i * 7 % 101);
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    sum_and_most<<<4, n / 4>>>(device_in, sum, most);
    cudaMemcpy(&actual, sum, sizeof actual, cudaMemcpyDeviceToHost);
    cudaMemcpy(&result, most, sizeof result, cudaMemcpyDeviceToHost);
    return actual != expected || result != 100;
}

// ---- correct_atomics_without_barriers -----------------------------------------------------------
// Correct: a histogram and counters that only atomics touch between two barriers, and one place that several
// threads set to the same value.
// options: --global-races
__global__ void histogram(const unsigned char* in, int* out, int* found) {
    __shared__ int bins[64], largest;
    __shared__ bool any_odd;
    const unsigned int tid = threadIdx.x;
    if (tid < 64) bins[tid] = 0;
    if (tid == 0) {
        largest = 0;
        any_odd = false;
    }
    __syncthreads();
    atomicAdd(&bins[in[tid] % 64], 1);
    atomicMax(&largest, in[tid]);
    if (in[tid] % 2 == 1) any_odd = true;
    if (in[tid] % 2 == 1) *found = 1;
    __syncthreads();
    if (tid < 64) atomicAdd(&out[tid], bins[tid] + largest + any_odd);
}

LAUNCHES(correct_atomics_without_barriers) {
    const Memory<unsigned char> in(256, 7);
    const Memory<int> out(64, 0), found(1);
    histogram<<<3, 256>>>(in, out, found);
}

// ---- correct_grid_sync --------------------------------------------------------------------------
// Correct: blocks that meet in between by grid.sync(), and read what another warp of another block has left.
// options: --global-races
__global__ void rotate_blocks(int* memory) {
    const unsigned int next = (blockIdx.x + 1) % gridDim.x, tid = threadIdx.x;
    int value = static_cast<int>(blockIdx.x);
    for (int round = 0; round < 4; ++round) {
        memory[blockIdx.x * blockDim.x + tid] = value;
        cooperative_groups::this_grid().sync();
        value += memory[next * blockDim.x + (tid ^ 33)];
        cooperative_groups::this_grid().sync();
    }
    memory[blockIdx.x * blockDim.x + tid] = value;
}

PROGRAM(correct_grid_sync) {
    int* memory = nullptr;
    cudaMalloc(&memory, 5 * 64 * sizeof(int));
    void* arguments[] = {&memory};
    cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(rotate_blocks), 5, 64, arguments);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(memory) != cudaSuccess;
}

// ---- correct_last_block -------------------------------------------------------------------------
// Correct: the last block to finish adds up what the others have left, after a fence and an atomic; and a
// chain, in which each block waits for the one before it.
// options: --global-races
__device__ unsigned int finished = 0;
__device__ volatile int flags[8], prefixes[8];

__global__ void sum_of_all_parts(const int* in, volatile int* parts, int* total) {
    int part = in[blockIdx.x * 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) part += __shfl_down_sync(0xffffffff, part, distance);
    bool is_last = false;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part;
        __threadfence();
        is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    if (__syncthreads_or(is_last)) {
        __threadfence();
        int all = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0;
        for (int distance = 16; distance > 0; distance /= 2)
            all += __shfl_down_sync(0xffffffff, all, distance);
        if (threadIdx.x == 0) *total = all;
    }
}

__global__ void chain(int* out) {
    const unsigned int block = blockIdx.x;
    if (block > 0) {
        while (flags[block - 1] == 0) {
        }
        __threadfence();
    }
    prefixes[block] = static_cast<int>(block) + (block > 0 ? prefixes[block - 1] : 0);
    __threadfence();
    flags[block] = 1;
    out[block] = prefixes[block];
}

LAUNCHES(correct_last_block) {
    const Memory<int> in(256, 1), parts(8), out(8);
    sum_of_all_parts<<<8, 32>>>(in, parts, out);
    chain<<<8, 1>>>(out);
}

// ---- correct_lock -------------------------------------------------------------------------------
// Correct: locks in shared memory, with fences, that one lane of each warp takes, and that every lane does;
// and a lock of all blocks.
// options: --global-races
__device__ int global_lock = 0, global_count = 0;

__global__ void count_all(int* out) {
    __shared__ int lock, count;
    if (threadIdx.x == 0) lock = count = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence_block();
        count = count + 1;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) != 0) continue;
        __threadfence_block();
        count = count + 1;
        __threadfence_block();
        atomicExch(&lock, 0);
        done = true;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    while (atomicCAS(&global_lock, 0, 1) != 0) {
    }
    __threadfence();
    global_count = global_count + count;
    *out = global_count;
    __threadfence();
    atomicExch(&global_lock, 0);
}

LAUNCHES(correct_lock) {
    const Memory<int> out(1);
    count_all<<<4, 128>>>(out);
}

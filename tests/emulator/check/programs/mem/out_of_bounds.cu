// Accesses outside an array, in every kind of memory.
#include "../programs.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>

namespace cg = cooperative_groups;

// ---- across_the_end -----------------------------------------------------------------------------
// Accesses vectors of four, but the number of elements is not a multiple of four.
__global__ void sum_vectors(const int4* in, int* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (4 * i >= n) return;
    const int4 v = in[i]; // expect: mem, out of bounds
    out[i] = v.x + v.y + v.z + v.w;
}

PROGRAM(across_the_end) {
    constexpr int n = 126;
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    sum_vectors<<<1, 32>>>(reinterpret_cast<const int4*>(in), out, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// ---- before_the_start ---------------------------------------------------------------------------
// Each thread reads its left neighbor, but the first thread has none.
__global__ void differences(const int* in, int* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= n) return;
    const int left = in[i - 1]; // expect: mem, out of bounds
    out[i] = in[i] - left;
}

LAUNCHES(before_the_start) {
    constexpr int n = 64;
    const Memory<int> in(n, 0), out(n);
    differences<<<1, n>>>(in, out, n);
}

// ---- past_the_end -------------------------------------------------------------------------------
// The guard lets one thread too many through.
__global__ void clear(int* data, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i <= n) data[i] = 0; // expect: mem, out of bounds
}

LAUNCHES(past_the_end) {
    constexpr int n = 200;
    const Memory<int> data(n);
    clear<<<2, 128>>>(data, n);
}

// ---- far_past_the_end ---------------------------------------------------------------------------
// A row too wide: the access is far past the end, where anything may be.
__global__ void touch_columns(char* matrix, int pitch) {
    matrix[threadIdx.x * static_cast<unsigned int>(pitch)] = 1; // expect: mem, out of bounds
}

LAUNCHES(far_past_the_end) {
    const Memory<char> matrix(4 * 1024);
    touch_columns<<<1, 4>>>(matrix, 1024 * 1024);
}

// ---- behind_the_end_of_a_small_array ------------------------------------------------------------
// Five bytes past the end: no other allocation is near, and no page ends here.
__global__ void copy_last(const char* text, char* last, int length) {
    *last = text[length + 4]; // expect: mem, out of bounds
}

LAUNCHES(behind_the_end_of_a_small_array) {
    constexpr int length = 10;
    const Memory<char> text(length, 'x'), last(1);
    copy_last<<<1, 1>>>(text, last, length);
}

// ---- elements_for_bytes -------------------------------------------------------------------------
// The allocation's size counts elements instead of bytes.
__global__ void count_up(unsigned int* counts, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) atomicAdd(&counts[i], 1u); // expect: mem, out of bounds
}

PROGRAM(elements_for_bytes) {
    constexpr int n = 64;
    unsigned int* counts = nullptr;
    cudaMalloc(&counts, n);
    cudaMemset(counts, 0, n);
    count_up<<<1, n>>>(counts, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(counts) != cudaSuccess;
}

// ---- local_array --------------------------------------------------------------------------------
// A histogram of four bins that each thread has for itself, and values up to four.
__global__ void count_digits(const int* in, int* out, int n) {
    int bins[4] = {0, 0, 0, 0};
    for (int i = 0; i < n; ++i) bins[in[i]] = i; // expect: mem, out of bounds
    out[threadIdx.x] = bins[in[threadIdx.x] & 3];
}

LAUNCHES(local_array) {
    constexpr int n = 8;
    const int values[n] = {0, 1, 2, 3, 4, 3, 2, 1};
    const Memory<int> in(n), out(n);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    count_digits<<<1, n>>>(in, out, n);
}

// ---- constant_memory ----------------------------------------------------------------------------
// A filter of five coefficients, applied as if it had six.
__constant__ float coefficients[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};

__global__ void filter(float* out, int taps) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += coefficients[k]; // expect: mem, out of bounds
    out[threadIdx.x] = sum;
}

LAUNCHES(constant_memory) {
    const Memory<float> out(32);
    filter<<<1, 32>>>(out, 6);
}

// ---- shared_too_small ---------------------------------------------------------------------------
// The launch requests one byte of dynamic shared memory per thread, and the kernel uses a word.
__global__ void reverse_block(int* data) {
    extern __shared__ int block_data[];
    const unsigned int tid = threadIdx.x;
    block_data[tid] = data[tid]; // expect: mem, out of bounds
    __syncthreads();
    if (tid >= 120) data[tid] = block_data[blockDim.x - 1 - tid];
}

LAUNCHES(shared_too_small) {
    constexpr int threads = 128;
    const Memory<int> data(threads, 0);
    reverse_block<<<1, threads, threads>>>(data);
}

// ---- between_shared_arrays ----------------------------------------------------------------------
// The bytes past `flags` belong to no array: they align `sums`.
__global__ void flag_odd(const int* in, double* out) {
    __shared__ char flags[9];
    __shared__ double sums[2];
    const unsigned int tid = threadIdx.x;
    if (tid < 2) sums[tid] = in[tid];
    flags[tid] = static_cast<char>(in[tid] & 1); // expect: mem, out of bounds
    __syncthreads();
    if (tid < 2) out[tid] = sums[tid] + flags[tid];
}

LAUNCHES(between_shared_arrays) {
    constexpr int threads = 12;
    const Memory<int> in(threads);
    const Memory<double> out(2);
    cudaMemset(in, 0, threads * sizeof(int));
    flag_odd<<<1, threads>>>(in, out);
}

// ---- cluster_past_the_end -----------------------------------------------------------------------
// The index runs past the end of the other block's shared memory.
__global__ void __cluster_dims__(2) beyond(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    values[tid] = in[i];
    cluster.sync();
    out[i] = cluster.map_shared_rank(values, cluster.block_rank() ^ 1)[tid + 1]; // expect: mem, out of bounds
    cluster.sync();
}

LAUNCHES(cluster_past_the_end) {
    const Memory<int> in(128, 1), out(128, 0);
    beyond<<<2, 64>>>(in, out);
}

// ---- correct_to_the_last_byte -------------------------------------------------------------------
// Correct: every byte is used, up to the last, and addresses outside are made but not used.
__constant__ char letters[3] = {'a', 'b', 'c'};

__device__ char* one_past(char* first, int n) { return first + n; }

__global__ void use_all(char* bytes, int n) {
    extern __shared__ char block_bytes[];
    char mine[7];
    const int i = static_cast<int>(threadIdx.x);
    for (char* place = bytes + i; place < one_past(bytes, n); place += blockDim.x) *place = letters[i % 3];
    for (int k = 0; k < 7; ++k) mine[(k + i) % 7] = static_cast<char>(k);
    block_bytes[i] = mine[i % 7];
    __syncthreads();
    // Lanes beyond the end have a wild address, and do not use it.
    const long long place = i < n ? i : 1ll << 60;
    if (i < n) bytes[place] = block_bytes[blockDim.x - 1 - i];
}

__global__ void optional_output(const char* in, char* out, char* also) {
    out[threadIdx.x] = in[threadIdx.x];
    if (also) also[threadIdx.x] = in[threadIdx.x];
}

PROGRAM(correct_to_the_last_byte) {
    constexpr int n = 4099; // the last byte is the third of a page
    char *bytes = nullptr, *out = nullptr;
    for (int again = 0; again < 3; ++again) {
        cudaMalloc(&bytes, n);
        use_all<<<1, 61, 61>>>(bytes, n);
        cudaMalloc(&out, 61);
        optional_output<<<1, 61>>>(bytes, out, nullptr);
        cudaFree(bytes);
        optional_output<<<1, 61>>>(out, out, nullptr);
        cudaFree(out);
    }
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(nullptr) != cudaSuccess;
}

// ---- correct_functions_with_arrays --------------------------------------------------------------
// Correct: recursive functions, each with its own array, also use their caller's; printf has its arguments in
// an array that the source does not show.
__device__ __noinline__ int descend(int depth, int* callers) {
    int mine[5];
    for (int i = 0; i < 5; ++i) mine[i] = depth + i;
    *callers += mine[depth % 5];
    return depth == 0 ? 0 : descend(depth - 1, &mine[depth % 5]) + mine[(depth + 1) % 5];
}

__global__ void in_functions(int* out) {
    int sum = 0;
    const int depth = static_cast<int>(threadIdx.x % 7);
    out[threadIdx.x] = descend(depth, &sum) + sum;
    if (threadIdx.x == 33) printf("%s %d %f\n", "thread", depth, 0.5);
}

LAUNCHES(correct_functions_with_arrays) {
    const Memory<int> out(64);
    in_functions<<<1, 64>>>(out);
}

// ---- correct_cooperative_groups -----------------------------------------------------------------
// Correct: a reduction by tiles of a cooperative group, and a pointer to shared memory handed to a function.
__device__ __noinline__ void store_sum(int* place, int sum) { *place = sum; }

__global__ void reduce_by_tiles(const int* in, int* out, unsigned int n) {
    __shared__ int sums[8];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    int sum = 0;
    for (unsigned int i = block.thread_rank(); i < n; i += block.size()) sum += in[i];
    sum = cg::reduce(warp, sum, cg::plus<int>());
    if (warp.thread_rank() == 0) store_sum(&sums[warp.meta_group_rank()], sum);
    block.sync();
    if (warp.meta_group_rank() == 0) {
        const auto few = cg::tiled_partition<8>(warp);
        if (few.meta_group_rank() == 0) {
            const int total = cg::reduce(few, sums[few.thread_rank()], cg::plus<int>());
            if (few.thread_rank() == 0) store_sum(out, total);
        }
    }
}

PROGRAM(correct_cooperative_groups) {
    constexpr unsigned int n = 1001;
    const Memory<int> in(n), out(1);
    int sum = 0, ones[n];
    for (int& one : ones) one = 1;
    cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
    reduce_by_tiles<<<1, 256>>>(in, out, n);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    return sum != n;
}

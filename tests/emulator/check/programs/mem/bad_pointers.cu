// Pointers to nothing, to the wrong memory, to memory that is gone, and misaligned ones.
#include "../programs.hpp"

#include <cooperative_groups.h>

#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

// ---- null_pointer -------------------------------------------------------------------------------
// Writes the optional output although the caller passed none.
__global__ void find_largest(const int* in, int* largest, int* place) {
    const int value = in[threadIdx.x];
    const int most = __reduce_max_sync(0xFFFFFFFF, value);
    if (threadIdx.x == 0) *largest = most;
    if (value == most) *place = static_cast<int>(threadIdx.x); // expect: mem, null pointer
}

LAUNCHES(null_pointer) {
    const Memory<int> in(32, 0), largest(1);
    find_largest<<<1, 32>>>(in, largest, nullptr);
}

// ---- list_without_end ---------------------------------------------------------------------------
// Runs past the end of the list: the checker skips the reads, and the zeros lead nowhere else.
struct Link {
    int value;
    const Link* next;
};

__device__ Link first_link = {1, nullptr};
__device__ int steps_to_link;

__global__ void find_link(int value) {
    int steps = 0;
    const Link* link = &first_link;
    while (link->value != value) { // expect: mem, null pointer
        link = link->next;         // expect: mem, null pointer
        ++steps;
    }
    steps_to_link = steps;
}

PROGRAM(list_without_end) {
    find_link<<<1, 1>>>(3);
    return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}

// ---- host_pointer -------------------------------------------------------------------------------
// Passes the host's array to the kernel instead of its copy.
__global__ void sum_all(const int* in, int n, int* out) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += in[i]; // expect: mem, host pointer
    *out = sum;
}

LAUNCHES(host_pointer) {
    const std::vector<int> in(100, 1);
    const Memory<int> copy(in.size()), out(1);
    cudaMemcpy(copy, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
    sum_all<<<1, 1>>>(in.data(), static_cast<int>(in.size()), out);
}

// ---- large_host_array ---------------------------------------------------------------------------
// malloc takes large arrays from the same part of the address space as the device's memory.
__global__ void set_one(int* data) {
    data[threadIdx.x] = 1; // expect: mem, host pointer
}

PROGRAM(large_host_array) {
    int *device = nullptr, *host = static_cast<int*>(std::malloc(10'000'000));
    cudaMalloc(&device, 1000);
    set_one<<<1, 32>>>(host);
    std::free(host);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(device) != cudaSuccess;
}

// ---- use_after_free -----------------------------------------------------------------------------
// The input is freed between two launches that need it; a new allocation is made in between.
__global__ void double_each(const int* in, int* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = 2 * in[i]; // expect: mem, use after free
}

PROGRAM(use_after_free) {
    constexpr int n = 100;
    int *in = nullptr, *out = nullptr, *other = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    double_each<<<1, 128>>>(in, out, n);
    cudaFree(in);
    cudaMalloc(&other, n * sizeof(int)); // would get the same address
    double_each<<<1, 128>>>(in, out, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess ||
           cudaFree(other) != cudaSuccess;
}

// ---- write_to_constant --------------------------------------------------------------------------
// Casts a const away from memory that really is constant.
__constant__ int limits[2] = {0, 100};

__global__ void raise(const int** place) { *place = limits; }
__global__ void set_limit(const int* const* place) {
    const_cast<int*>(*place)[1] = 200; // expect: mem, write to constant memory
}

PROGRAM(write_to_constant) {
    const int** place = nullptr;
    cudaMalloc(&place, sizeof *place);
    raise<<<1, 1>>>(place);
    set_limit<<<1, 1>>>(place);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(place) != cudaSuccess;
}

// ---- misaligned_vector --------------------------------------------------------------------------
// Vectors of four are read from the second element on.
__global__ void sum_from(const float* in, float* out) {
    const float4 v = *reinterpret_cast<const float4*>(in + 1); // expect: mem, misaligned
    *out = v.x + v.y + v.z + v.w;
}

LAUNCHES(misaligned_vector) {
    const Memory<float> in(32, 0), out(1);
    sum_from<<<1, 1>>>(in, out);
}

// ---- misaligned_shared --------------------------------------------------------------------------
// Words are carved out of an array of bytes, after a header of ten.
__global__ void pack(int* out) {
    __shared__ alignas(16) char packet[10 + 4 * 32];
    const unsigned int tid = threadIdx.x;
    int* const words = reinterpret_cast<int*>(packet + 10);
    if (tid == 0) packet[0] = 1;
    words[tid] = static_cast<int>(tid); // expect: mem, misaligned
    __syncthreads();
    if (tid == 0) out[0] = packet[0];
}

LAUNCHES(misaligned_shared) {
    const Memory<int> out(1);
    pack<<<1, 32>>>(out);
}

// ---- cluster_no_such_block ----------------------------------------------------------------------
// The next block of the last one is one too many.
__global__ void __cluster_dims__(2) next_one(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    values[tid] = in[i];
    cluster.sync();
    out[i] = *cluster.map_shared_rank(&values[tid], cluster.block_rank() + 1); // expect: mem, no such block
    cluster.sync();
}

LAUNCHES(cluster_no_such_block) {
    const Memory<int> in(128, 1), out(128, 0);
    next_one<<<2, 64>>>(in, out);
}

// ---- cluster_exited_block -----------------------------------------------------------------------
// Block 1 has exited when block 0 reads its shared memory.
__global__ void __cluster_dims__(2) too_late(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x;
    values[tid] = in[blockIdx.x * 64 + tid];
    cluster.sync();
    if (cluster.block_rank() == 0)
        out[tid] = *cluster.map_shared_rank(&values[tid], 1); // expect: mem, shared memory of an exited block
}

LAUNCHES(cluster_exited_block) {
    const Memory<int> in(128, 1), out(128, 0);
    too_late<<<2, 64>>>(in, out);
}

// Bug: the neighbor's value is taken without a barrier, in functions that the compiler puts into the kernel.
#include <cuda_runtime.h>

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

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    add_neighbors<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}

// A lock excludes the others, but no fence orders the protected accesses before its release.
#include <cuda_runtime.h>

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

int main() {
    int* out = nullptr;
    cudaMalloc(&out, sizeof(int));
    count_warps_unsafely<<<1, 128>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}

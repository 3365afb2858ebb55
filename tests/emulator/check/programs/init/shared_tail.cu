// Threads beyond the end load nothing, and store no zero either.
#include <cuda_runtime.h>

__global__ void reduce_block(const int* in, int* out, unsigned int n) {
    __shared__ int sums[64];
    const unsigned int tid = threadIdx.x;
    if (tid < n) sums[tid] = in[tid];
    __syncthreads();
    for (unsigned int stride = 32; stride > 0; stride /= 2) {
        if (tid < stride) {
            const int other = sums[tid + stride]; // expect: init, uninitialized read
            sums[tid] += other;
        }
        __syncthreads();
    }
    if (tid == 0) *out = sums[0];
}

int main() {
    constexpr unsigned int n = 50;
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    reduce_block<<<1, 64>>>(in, out, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// Correct: the last warp of a reduction with volatile, and a warp barrier after each load and each store.
#include <cuda_runtime.h>

__global__ void sum_with_volatile(const int* in, int* out) {
    __shared__ volatile int sums[64];
    const unsigned int tid = threadIdx.x;
    sums[tid] = in[tid];
    __syncthreads();
    if (tid < 32) {
        for (unsigned int distance = 32; distance > 0; distance /= 2) {
            const int other = sums[tid + distance];
            __syncwarp();
            sums[tid] = sums[tid] + other;
            __syncwarp();
        }
        if (tid == 0) *out = sums[0];
    }
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 1, 64 * sizeof(int));
    sum_with_volatile<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

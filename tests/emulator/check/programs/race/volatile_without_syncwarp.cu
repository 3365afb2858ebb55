// The last warp of a reduction as it was written before 2017: volatile keeps the compiler from holding values
// in registers, but the lanes need not run in step.
#include <cuda_runtime.h>

__global__ void sum_of_a_warp(const int* in, int* out) {
    __shared__ volatile int sums[64];
    const unsigned int tid = threadIdx.x;
    sums[tid] = in[tid];
    __syncthreads();
    if (tid < 32) {
        int sum = sums[tid] + sums[tid + 32];
        sums[tid] = sum;
        sum += sums[tid ^ 16]; // expect: race, read after write
        *out = sum;
    }
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    sum_of_a_warp<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

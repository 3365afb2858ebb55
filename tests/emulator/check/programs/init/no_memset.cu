// Adds up the sum in memory that was never zeroed.
#include <cuda_runtime.h>

__global__ void add_up(const int* in, int* sum, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) atomicAdd(sum, in[i]); // expect: init, uninitialized read
}

int main() {
    constexpr int n = 64;
    int *in = nullptr, *sum = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    add_up<<<1, n>>>(in, sum, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(sum) != cudaSuccess;
}

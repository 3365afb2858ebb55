// Correct since compute capability 7.0: the threads past the end return, and the barrier waits for the
// others.
#include <cuda_runtime.h>

__global__ void reverse(int* data, int n) {
    __shared__ int values[128];
    const int tid = static_cast<int>(threadIdx.x);
    if (tid >= n) return;
    values[tid] = data[tid];
    __syncthreads();
    data[tid] = values[n - 1 - tid];
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 100 * sizeof(int));
    cudaMemset(data, 0, 100 * sizeof(int));
    reverse<<<1, 128>>>(data, 100);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}

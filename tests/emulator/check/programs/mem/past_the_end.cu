// The guard lets one thread too many through.
#include <cuda_runtime.h>

__global__ void clear(int* data, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i <= n) data[i] = 0; // expect: mem, out of bounds
}

int main() {
    constexpr int n = 200;
    int* data = nullptr;
    cudaMalloc(&data, n * sizeof(int));
    clear<<<2, 128>>>(data, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}

// The kernel that fills the array rounds the number of blocks down.
#include <cuda_runtime.h>

__global__ void fill(int* data, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) data[i] = i;
}

__global__ void square(const int* in, int* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const int value = in[i]; // expect: init, uninitialized read
    out[i] = value * value;
}

int main() {
    constexpr int n = 1000, block = 128;
    int *data = nullptr, *squares = nullptr;
    cudaMalloc(&data, n * sizeof(int));
    cudaMalloc(&squares, n * sizeof(int));
    fill<<<n / block, block>>>(data, n);
    square<<<(n + block - 1) / block, block>>>(data, squares, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess ||
           cudaFree(squares) != cudaSuccess;
}

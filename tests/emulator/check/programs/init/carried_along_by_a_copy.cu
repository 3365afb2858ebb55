// Copying unwritten memory does not initialize it.
#include <cuda_runtime.h>

__global__ void fill_half(int* data) { data[threadIdx.x] = 1; }

__global__ void sum_pairs(const int* in, int* out) {
    const unsigned int i = threadIdx.x;
    const int upper = in[i + 32]; // expect: init, uninitialized read
    out[i] = in[i] + upper;
}

int main() {
    constexpr std::size_t bytes = 64 * sizeof(int);
    int *data = nullptr, *copy = nullptr, *sums = nullptr;
    cudaMalloc(&data, bytes);
    cudaMalloc(&copy, bytes);
    cudaMalloc(&sums, bytes / 2);
    fill_half<<<1, 32>>>(data);
    cudaMemcpy(copy, data, bytes, cudaMemcpyDeviceToDevice);
    sum_pairs<<<1, 32>>>(copy, sums);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess ||
           cudaFree(copy) != cudaSuccess || cudaFree(sums) != cudaSuccess;
}

// Passes the host's array to the kernel instead of its copy.
#include <cuda_runtime.h>

#include <vector>

__global__ void sum_all(const int* in, int n, int* out) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += in[i]; // expect: mem, host pointer
    *out = sum;
}

int main() {
    const std::vector<int> in(100, 1);
    int *copy = nullptr, *out = nullptr;
    cudaMalloc(&copy, in.size() * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(copy, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
    sum_all<<<1, 1>>>(in.data(), static_cast<int>(in.size()), out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(copy) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

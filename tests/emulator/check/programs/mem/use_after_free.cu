// The input is freed between two launches that need it; a new allocation is made in between.
#include <cuda_runtime.h>

__global__ void double_each(const int* in, int* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = 2 * in[i]; // expect: mem, use after free
}

int main() {
    constexpr int n = 100;
    int *in = nullptr, *out = nullptr, *other = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    double_each<<<1, 128>>>(in, out, n);
    cudaFree(in);
    cudaMalloc(&other, n * sizeof(int)); // would get the same address
    double_each<<<1, 128>>>(in, out, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess ||
           cudaFree(other) != cudaSuccess;
}

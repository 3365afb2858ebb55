// A histogram of four bins that each thread has for itself, and values up to four.
#include <cuda_runtime.h>

__global__ void count_digits(const int* in, int* out, int n) {
    int bins[4] = {0, 0, 0, 0};
    for (int i = 0; i < n; ++i) bins[in[i]] = i; // expect: mem, out of bounds
    out[threadIdx.x] = bins[in[threadIdx.x] & 3];
}

int main() {
    constexpr int n = 8;
    const int values[n] = {0, 1, 2, 3, 4, 3, 2, 1};
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    count_digits<<<1, n>>>(in, out, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

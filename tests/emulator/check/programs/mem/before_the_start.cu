// Each thread reads its left neighbor, but the first thread has none.
#include <cuda_runtime.h>

__global__ void differences(const int* in, int* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= n) return;
    const int left = in[i - 1]; // expect: mem, out of bounds
    out[i] = in[i] - left;
}

int main() {
    constexpr int n = 64;
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    differences<<<1, n>>>(in, out, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

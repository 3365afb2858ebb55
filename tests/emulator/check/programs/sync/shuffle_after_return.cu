// Lanes past the end return, but the others still read their values.
#include <cuda_runtime.h>

__global__ void sum(const int* in, int* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= n) return;
    int value = in[i];
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance); // expect: sync, shuffle from an exited lane
    if (i == 0) *out = value;
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 20 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 1, 20 * sizeof(int));
    sum<<<1, 32>>>(in, out, 20);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

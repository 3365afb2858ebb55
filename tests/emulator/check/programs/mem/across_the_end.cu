// Accesses vectors of four, but the number of elements is not a multiple of four.
#include <cuda_runtime.h>

__global__ void sum_vectors(const int4* in, int* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (4 * i >= n) return;
    const int4 v = in[i]; // expect: mem, out of bounds
    out[i] = v.x + v.y + v.z + v.w;
}

int main() {
    constexpr int n = 126;
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    sum_vectors<<<1, 32>>>(reinterpret_cast<const int4*>(in), out, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

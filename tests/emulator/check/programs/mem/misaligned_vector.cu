// Vectors of four are read from the second element on.
#include <cuda_runtime.h>

__global__ void sum_from(const float* in, float* out) {
    const float4 v = *reinterpret_cast<const float4*>(in + 1); // expect: mem, misaligned
    *out = v.x + v.y + v.z + v.w;
}

int main() {
    float *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 32 * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMemset(in, 0, 32 * sizeof(float));
    sum_from<<<1, 1>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// The copy from the host fills only half of the last vector.
#include <cuda_runtime.h>

__global__ void sum_vectors_of_four(const float4* in, float* out, int vectors) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= vectors) return;
    const float4 v = in[i]; // expect: init, uninitialized read
    out[i] = v.x + v.y + v.z + v.w;
}

int main() {
    constexpr int n = 126, vectors = 32;
    const float host[n] = {};
    float4* in = nullptr;
    float* out = nullptr;
    cudaMalloc(&in, vectors * sizeof(float4));
    cudaMalloc(&out, vectors * sizeof(float));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    sum_vectors_of_four<<<1, 32>>>(in, out, vectors);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

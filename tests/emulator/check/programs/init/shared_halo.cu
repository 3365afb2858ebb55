// Of a tile with a border on both sides only the left one is loaded.
#include <cuda_runtime.h>

__global__ void smooth(const float* in, float* out, int n) {
    extern __shared__ float tile[];
    const int tid = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x * blockDim.x) + tid;
    tile[tid + 1] = i < n ? in[i] : 0.0f;
    if (tid == 0) tile[0] = i > 0 ? in[i - 1] : 0.0f;
    __syncthreads();
    const float right = tile[tid + 2]; // expect: init, uninitialized read
    if (i < n) out[i] = tile[tid] + tile[tid + 1] + right;
}

int main() {
    constexpr int n = 256, block = 64;
    float *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    smooth<<<n / block, block, (block + 2) * sizeof(float)>>>(in, out, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

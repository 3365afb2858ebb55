// The bytes past `flags` belong to no array: they align `sums`.
#include <cuda_runtime.h>

__global__ void flag_odd(const int* in, double* out) {
    __shared__ char flags[9];
    __shared__ double sums[2];
    const unsigned int tid = threadIdx.x;
    if (tid < 2) sums[tid] = in[tid];
    flags[tid] = static_cast<char>(in[tid] & 1); // expect: mem, out of bounds
    __syncthreads();
    if (tid < 2) out[tid] = sums[tid] + flags[tid];
}

int main() {
    constexpr int threads = 12;
    int* in = nullptr;
    double* out = nullptr;
    cudaMalloc(&in, threads * sizeof(int));
    cudaMalloc(&out, 2 * sizeof(double));
    cudaMemset(in, 0, threads * sizeof(int));
    flag_odd<<<1, threads>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

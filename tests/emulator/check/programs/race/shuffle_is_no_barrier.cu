// A shuffle makes lanes wait for each other, but orders nothing that they have stored.
#include <cuda_runtime.h>

__global__ void rotate(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned int tid = threadIdx.x;
    values[tid] = in[tid];
    const int distance = __shfl_sync(0xffffffff, in[tid], 0);
    out[tid] = values[(tid + distance) % 32]; // expect: race, read after write
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 1, 32 * sizeof(int));
    rotate<<<1, 32>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// The bins are cleared, and no barrier keeps the first threads from counting before that.
#include <cuda_runtime.h>

__global__ void histogram(const unsigned char* in, int* out) {
    __shared__ int bins[64];
    const unsigned int tid = threadIdx.x;
    if (tid < 64) bins[tid] = 0;
    atomicAdd(&bins[in[tid] % 64], 1); // expect: race, atomic after write
    __syncthreads();
    if (tid < 64) out[tid] = bins[tid];
}

int main() {
    unsigned char* in = nullptr;
    int* out = nullptr;
    cudaMalloc(&in, 256);
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 7, 256);
    histogram<<<1, 256>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

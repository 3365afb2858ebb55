// The barrier covers half a warp, but the exchange crosses halves.
#include <cuda_runtime.h>

__global__ void swap_halves(int* data) {
    __shared__ int values[32];
    const unsigned int tid = threadIdx.x;
    values[tid] = data[tid];
    __syncwarp(tid < 16 ? 0x0000ffff : 0xffff0000);
    data[tid] = values[tid ^ 16]; // expect: race, read after write
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 32 * sizeof(int));
    cudaMemset(data, 0, 32 * sizeof(int));
    swap_halves<<<1, 32>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}

// Half of the warp waits for all of it, and the other half for all of the block.
#include <cuda_runtime.h>

__global__ void meet_in_halves(int* data) {
    __shared__ int values[64];
    values[threadIdx.x] = data[threadIdx.x];
    if (threadIdx.x % 32 < 16) __syncwarp(); // expect: sync, mask names lanes that do not arrive
    __syncthreads();
    data[threadIdx.x] = values[63 - threadIdx.x];
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 64 * sizeof(int));
    cudaMemset(data, 1, 64 * sizeof(int));
    meet_in_halves<<<1, 64>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}

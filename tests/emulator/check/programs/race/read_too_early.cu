// Each thread reads what another warp writes, without waiting for it.
#include <cuda_runtime.h>

__global__ void reverse(int* data) {
    __shared__ int tile[128];
    const unsigned int tid = threadIdx.x;
    tile[tid] = data[tid];       // expect: race, write after read
    data[tid] = tile[127 - tid]; // expect: init, uninitialized read
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 128 * sizeof(int));
    cudaMemset(data, 0, 128 * sizeof(int));
    reverse<<<1, 128>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}

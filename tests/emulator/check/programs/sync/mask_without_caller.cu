// All lanes come, and the mask names half of them.
#include <cuda_runtime.h>

__global__ void sum_of_pairs(int* data) {
    int value = data[threadIdx.x];
    value += __shfl_xor_sync(0x0000ffff, value, 1); // expect: sync, mask without its caller
    data[threadIdx.x] = value;
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 32 * sizeof(int));
    cudaMemset(data, 0, 32 * sizeof(int));
    sum_of_pairs<<<1, 32>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}

// Copies a result per block, but the last block has not written one.
#include <cuda_runtime.h>

__global__ void number_blocks(int* out, unsigned int n) {
    if (threadIdx.x == 0 && blockIdx.x + 1 < n) out[blockIdx.x] = static_cast<int>(blockIdx.x);
}

int main() {
    constexpr unsigned int blocks = 10;
    int* device = nullptr;
    int host[blocks];
    cudaMalloc(&device, sizeof host);
    number_blocks<<<blocks, 32>>>(device, blocks);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost); // expect: init, uninitialized copy
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(device) != cudaSuccess;
}

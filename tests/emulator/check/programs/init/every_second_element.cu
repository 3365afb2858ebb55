// The stride is two instead of one: this looks like the padding of a struct, but is not.
#include <cuda_runtime.h>

__global__ void fill_strided(int* data) { data[2 * threadIdx.x] = 1; }

int main() {
    constexpr unsigned int n = 64;
    int* device = nullptr;
    int host[n];
    cudaMalloc(&device, sizeof host);
    fill_strided<<<1, n / 2>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost); // expect: init, uninitialized copy
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(device) != cudaSuccess;
}

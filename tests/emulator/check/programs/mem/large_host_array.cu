// malloc takes large arrays from the same part of the address space as the device's memory.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void set_one(int* data) {
    data[threadIdx.x] = 1; // expect: mem, host pointer
}

int main() {
    int *device = nullptr, *host = static_cast<int*>(std::malloc(10'000'000));
    cudaMalloc(&device, 1000);
    set_one<<<1, 32>>>(host);
    std::free(host);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(device) != cudaSuccess;
}

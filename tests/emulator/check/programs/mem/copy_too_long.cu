// The copy counts the elements of the wrong array.
#include <cuda_runtime.h>

#include <vector>

int main() {
    const std::vector<int> host(100);
    int* device = nullptr;
    cudaMalloc(&device, 50 * sizeof(int));
    const cudaError_t error = // expect: mem, out of bounds
        cudaMemcpy(device, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
    return error != cudaErrorInvalidValue || cudaFree(device) != cudaSuccess;
}

// The result is freed before it is fetched.
#include <cuda_runtime.h>

int main() {
    int* device = nullptr;
    int host = 0;
    cudaMalloc(&device, sizeof(int));
    cudaMemset(device, 0, sizeof(int));
    cudaFree(device);
    const cudaError_t error =
        cudaMemcpy(&host, device, sizeof(int), cudaMemcpyDefault); // expect: mem, use after free
    return error != cudaErrorInvalidValue;
}

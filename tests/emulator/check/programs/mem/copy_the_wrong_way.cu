// The result is to go to the host, but the direction is that of the input.
#include <cuda_runtime.h>

int main() {
    int result[32], *data = nullptr;
    cudaMalloc(&data, sizeof result);
    cudaMemset(data, 0, sizeof result);
    const cudaError_t error = // expect: mem, device pointer
        cudaMemcpy(result, data, sizeof result, cudaMemcpyHostToDevice);
    return error != cudaErrorInvalidValue || cudaFree(data) != cudaSuccess;
}

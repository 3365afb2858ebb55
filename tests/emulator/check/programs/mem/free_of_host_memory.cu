// Frees the variable that should hold the pointer.
#include <cuda_runtime.h>

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 1000);
    const bool failed = cudaFree(&data) != cudaErrorInvalidValue; // expect: mem, invalid free
    return failed || cudaFree(data) != cudaSuccess;
}

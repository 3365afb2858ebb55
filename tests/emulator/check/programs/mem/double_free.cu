// Two owners of one buffer.
#include <cuda_runtime.h>

int main() {
    int* buffer = nullptr;
    cudaMalloc(&buffer, 1000);
    int* const alias = buffer;
    cudaFree(buffer);
    return cudaFree(alias) != cudaErrorInvalidValue; // expect: mem, double free
}

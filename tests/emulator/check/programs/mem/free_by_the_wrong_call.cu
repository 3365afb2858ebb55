// Pinned host memory must be freed with cudaFreeHost.
#include <cuda_runtime.h>

int main() {
    int* pinned = nullptr;
    cudaMallocHost(&pinned, 1000);
    const bool failed = cudaFree(pinned) != cudaErrorInvalidValue; // expect: mem, invalid free
    return failed || cudaFreeHost(pinned) != cudaSuccess;
}

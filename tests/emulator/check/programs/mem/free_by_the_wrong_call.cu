// Pinned memory of the host goes to cudaFreeHost.
#include <cuda_runtime.h>

int main() {
    int* pinned = nullptr;
    cudaMallocHost(&pinned, 1000);
    const bool failed = cudaFree(pinned) != cudaErrorInvalidValue; // expect: mem, invalid free
    return failed || cudaFreeHost(pinned) != cudaSuccess;
}

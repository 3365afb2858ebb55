// The pointer was moved along the array before it is freed.
#include <cuda_runtime.h>

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 1000);
    const bool failed = cudaFree(data + 10) != cudaErrorInvalidValue; // expect: mem, invalid free
    return failed || cudaFree(data) != cudaSuccess;
}

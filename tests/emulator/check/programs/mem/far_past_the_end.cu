// A row too wide: the access is far past the end, where anything may be.
#include <cuda_runtime.h>

__global__ void touch_columns(char* matrix, int pitch) {
    matrix[threadIdx.x * static_cast<unsigned int>(pitch)] = 1; // expect: mem, out of bounds
}

int main() {
    char* matrix = nullptr;
    cudaMalloc(&matrix, 4 * 1024);
    touch_columns<<<1, 4>>>(matrix, 1024 * 1024);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(matrix) != cudaSuccess;
}

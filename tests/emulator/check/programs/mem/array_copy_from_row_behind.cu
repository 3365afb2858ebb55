// Rows count from 0, and this array has no row 4.
#include <cuda_runtime.h>

int main() {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 8, 4);
    float row[8] = {};
    for (int y = 0; y < 4; ++y) cudaMemcpy2DToArray(array, 0, y, row, 32, 32, 1, cudaMemcpyHostToDevice);
    const cudaError_t error = // expect: mem, out of bounds
        cudaMemcpy2DFromArray(row, 32, array, 0, 4, 32, 1, cudaMemcpyDeviceToHost);
    return error != cudaErrorInvalidValue || cudaFreeArray(array) != cudaSuccess;
}

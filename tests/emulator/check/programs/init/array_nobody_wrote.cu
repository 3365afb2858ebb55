// Copies an unwritten row of an array to the host.
#include <cuda_runtime.h>

int main() {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 8, 4);
    float row[8] = {};
    const cudaError_t error = // expect: init, uninitialized copy
        cudaMemcpy2DFromArray(row, 32, array, 0, 2, 32, 1, cudaMemcpyDeviceToHost);
    return error != cudaSuccess || cudaFreeArray(array) != cudaSuccess;
}

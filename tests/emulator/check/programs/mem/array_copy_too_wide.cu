// The width of a row is counted in bytes, and this one is that of float2.
#include <cuda_runtime.h>

int main() {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 8, 4);
    const float2 image[8 * 4] = {};
    const cudaError_t error = // expect: mem, out of bounds
        cudaMemcpy2DToArray(array, 0, 0, image, sizeof(float2[8]), sizeof(float2[8]), 4,
                            cudaMemcpyHostToDevice);
    return error != cudaErrorInvalidValue || cudaFreeArray(array) != cudaSuccess;
}

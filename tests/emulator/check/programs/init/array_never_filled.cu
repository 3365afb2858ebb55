// The array is copied out by way of device memory, and its last row has never been copied in.
#include <cuda_runtime.h>

int main() {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 8, 4);
    float image[8 * 4] = {};
    float* device = nullptr;
    cudaMalloc(&device, sizeof image);
    cudaMemcpy2DToArray(array, 0, 0, image, 32, 32, 3, cudaMemcpyHostToDevice);
    cudaMemcpy2DFromArray(device, 32, array, 0, 0, 32, 4, cudaMemcpyDeviceToDevice);
    cudaMemcpy(image, device, sizeof image, cudaMemcpyDeviceToHost); // expect: init, uninitialized copy
    return cudaFree(device) != cudaSuccess || cudaFreeArray(array) != cudaSuccess;
}

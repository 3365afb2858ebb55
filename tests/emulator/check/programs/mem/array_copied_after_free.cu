// The array is freed before its last copy out.
#include <cuda_runtime.h>

int main() {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 8, 4);
    float image[8 * 4] = {};
    cudaMemcpy2DToArray(array, 0, 0, image, 32, 32, 4, cudaMemcpyHostToDevice);
    cudaFreeArray(array);
    const cudaError_t error = // expect: mem, use after free
        cudaMemcpy2DFromArray(image, 32, array, 0, 0, 32, 4, cudaMemcpyDeviceToHost);
    return error == cudaSuccess;
}

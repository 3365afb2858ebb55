// The image is freed, its array is not.
#include <cuda_runtime.h>

int main() {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 64, 64); // expect: mem, leak
    const float image[64 * 64] = {};
    return cudaMemcpy2DToArray(array, 0, 0, image, 256, 256, 64, cudaMemcpyHostToDevice) != cudaSuccess;
}

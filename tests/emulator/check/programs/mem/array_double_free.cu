// Two owners of one array.
#include <cuda_runtime.h>

int main() {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 64, 64);
    const cudaArray_t alias = array;
    cudaFreeArray(array);
    return cudaFreeArray(alias) == cudaSuccess; // expect: mem, double free
}

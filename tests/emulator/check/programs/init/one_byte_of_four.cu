// Pixels are written channel by channel, and alpha is forgotten.
#include <cuda_runtime.h>

__global__ void paint(unsigned char* pixels) {
    unsigned char* const pixel = pixels + 4 * threadIdx.x;
    pixel[0] = 255;
    pixel[1] = 128;
    pixel[2] = 64;
}

__global__ void invert(const unsigned int* in, unsigned int* out) {
    out[threadIdx.x] = ~in[threadIdx.x]; // expect: init, uninitialized read
}

int main() {
    unsigned int *image = nullptr, *negative = nullptr;
    cudaMalloc(&image, 64 * sizeof(unsigned int));
    cudaMalloc(&negative, 64 * sizeof(unsigned int));
    paint<<<1, 64>>>(reinterpret_cast<unsigned char*>(image));
    invert<<<1, 64>>>(image, negative);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(image) != cudaSuccess ||
           cudaFree(negative) != cudaSuccess;
}

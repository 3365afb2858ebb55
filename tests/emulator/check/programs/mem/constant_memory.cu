// A filter of five coefficients, applied as if it had six.
#include <cuda_runtime.h>

__constant__ float coefficients[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};

__global__ void filter(float* out, int taps) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += coefficients[k]; // expect: mem, out of bounds
    out[threadIdx.x] = sum;
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(float));
    filter<<<1, 32>>>(out, 6);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}

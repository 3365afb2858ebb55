// Passes the name of a device variable as a pointer to it.
#include <cuda_runtime.h>

__constant__ float weights_of_bands[4];

__global__ void weigh(float* data) { data[threadIdx.x] *= weights_of_bands[threadIdx.x % 4]; }

int main() {
    const float host[4] = {1, 2, 3, 4};
    float* data = nullptr;
    cudaMalloc(&data, 32 * sizeof(float));
    cudaMemset(data, 0, 32 * sizeof(float));
    const cudaError_t error = // expect: mem, variable for a pointer
        cudaMemcpy(weights_of_bands, host, sizeof host, cudaMemcpyHostToDevice);
    weigh<<<1, 32>>>(data);
    return error != cudaErrorInvalidValue || cudaFree(data) != cudaSuccess;
}

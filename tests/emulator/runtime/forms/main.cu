// Two kernels in two files. Built in all the forms in which nvcc puts PTX into a program.
#include <cstdio>
#include <cuda_runtime.h>

int result_of_other_file();

__device__ int value = 20;

// nvcc calls the string as it calls that of the other file.
__global__ void store(int* out, int more) {
    *out = value + more;
    printf("here, ");
}

int main() {
    int *device = nullptr, host = 0;
    cudaMalloc(&device, sizeof host);
    store<<<1, 1>>>(device, 3);
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorName(error));
        return 1;
    }
    cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaFuncAttributes attributes{};
    cudaFuncGetAttributes(&attributes, store);
    const int other = result_of_other_file();
    std::printf("%d and %d, PTX for %d\n", host, other, attributes.ptxVersion);
    cudaFree(device);
}

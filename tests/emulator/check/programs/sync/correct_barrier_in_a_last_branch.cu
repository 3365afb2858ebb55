// Correct since compute capability 7.0, if not wise: the even threads exit, and the barrier waits for the odd
// ones.
#include <cuda_runtime.h>

__global__ void add_neighbor(int* data) {
    __shared__ int values[64];
    const unsigned int tid = threadIdx.x;
    values[tid] = data[tid];
    if (tid % 2 == 1) {
        __syncthreads();
        data[tid] += values[tid - 1];
    }
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 64 * sizeof(int));
    cudaMemset(data, 0, 64 * sizeof(int));
    add_neighbor<<<1, 64>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}

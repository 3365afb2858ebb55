// Both branches have a barrier, but it is not the same one.
#include <cuda_runtime.h>

__global__ void add_two_neighbors(int* data) {
    __shared__ int values[64];
    const unsigned int tid = threadIdx.x;
    values[tid] = data[tid];
    if (tid % 2 == 1) {
        __syncthreads();
        data[tid] = values[tid - 1];
    } else {
        __syncthreads(); // expect: sync, barrier in divergent code
        data[tid] = 2 * values[tid + 1];
    }
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 64 * sizeof(int));
    cudaMemset(data, 0, 64 * sizeof(int));
    add_two_neighbors<<<1, 64>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}

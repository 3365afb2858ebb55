// Each thread reads its neighbor and overwrites its own place: __syncthreads() keeps apart the threads of a
// block, but not its first one and the block before it.
// options: --global-races
#include <cuda_runtime.h>

__global__ void add_left_neighbor(int* data) {
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int left = i > 0 ? data[i - 1] : 0; // expect: race, read after write
    __syncthreads();
    data[i] += left;
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 256 * sizeof(int));
    cudaMemset(data, 1, 256 * sizeof(int));
    add_left_neighbor<<<4, 64>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}

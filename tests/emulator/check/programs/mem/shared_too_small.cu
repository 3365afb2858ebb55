// The launch requests one byte of dynamic shared memory per thread, and the kernel uses a word.
#include <cuda_runtime.h>

__global__ void reverse_block(int* data) {
    extern __shared__ int block_data[];
    const unsigned int tid = threadIdx.x;
    block_data[tid] = data[tid]; // expect: mem, out of bounds
    __syncthreads();
    if (tid >= 120) data[tid] = block_data[blockDim.x - 1 - tid];
}

int main() {
    constexpr int threads = 128;
    int* data = nullptr;
    cudaMalloc(&data, threads * sizeof(int));
    cudaMemset(data, 0, threads * sizeof(int));
    reverse_block<<<1, threads, threads>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}

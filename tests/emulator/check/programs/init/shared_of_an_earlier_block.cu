// Only the first block fills the table, but every block has its own.
#include <cuda_runtime.h>

__global__ void look_up(int* out) {
    __shared__ int table[32];
    const unsigned int tid = threadIdx.x;
    if (blockIdx.x == 0) table[tid] = static_cast<int>(tid * tid);
    __syncthreads();
    out[blockIdx.x * blockDim.x + tid] = table[31 - tid]; // expect: init, uninitialized read
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 4 * 32 * sizeof(int));
    look_up<<<4, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}

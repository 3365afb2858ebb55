// Two threads of different warps write to each location: the index is wrong.
#include <cuda_runtime.h>

__global__ void squares(int* out) {
    __shared__ int values[64];
    const unsigned int tid = threadIdx.x;
    values[tid % 64] = static_cast<int>(tid * tid); // expect: race, write after write
    __syncthreads();
    if (tid < 64) out[tid] = values[tid];
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    squares<<<1, 128>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}

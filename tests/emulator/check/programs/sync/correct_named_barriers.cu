// Correct: named barriers of some warps, others that have exited by then, and one that is only arrived at.
#include <cuda_runtime.h>

__global__ void in_groups(int* data) {
    __shared__ int values[128];
    const unsigned int tid = threadIdx.x;
    values[tid] = data[tid];
    if (tid < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        data[tid] = values[63 - tid];
    } else if (tid < 96) {
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        data[tid] = values[tid - 32];
    }
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 128 * sizeof(int));
    cudaMemset(data, 0, 128 * sizeof(int));
    in_groups<<<2, 128>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}

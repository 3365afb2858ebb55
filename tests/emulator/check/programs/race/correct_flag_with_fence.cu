// Correct: one warp leaves a value and raises a flag, with a fence between; the other one waits for the flag.
#include <cuda_runtime.h>

__global__ void hand_over(int* out) {
    __shared__ volatile int flag;
    __shared__ int value;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = 42;
        __threadfence_block();
        flag = 1;
    } else if (threadIdx.x == 32) {
        while (flag == 0) {
        }
        __threadfence_block();
        *out = value;
    }
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, sizeof(int));
    hand_over<<<4, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}

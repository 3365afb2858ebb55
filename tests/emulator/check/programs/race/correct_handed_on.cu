// Correct: what a block has is handed on by a second one to a third, which never meets the first; and each
// thread has its own fence, with the barrier between fence and atomic.
// options: --global-races
#include <cuda_runtime.h>

__global__ void hand_on(int* memory, int* out) {
    __shared__ int seen;
    volatile int* const flags = memory + 512;
    const unsigned int tid = threadIdx.x;
    if (blockIdx.x > 0) {
        if (tid == 0) {
            while (flags[blockIdx.x - 1] == 0) {
            }
            seen = 1;
        }
        __syncthreads();
        __threadfence();
    } else {
        memory[tid] = static_cast<int>(tid);
    }
    if (blockIdx.x == 2) out[tid] = memory[tid ^ 33] + seen;
    __threadfence();
    __syncthreads();
    if (tid == 0) flags[blockIdx.x] = 1;
}

int main() {
    int *memory = nullptr, *out = nullptr;
    cudaMalloc(&memory, 1024 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(memory, 0, 1024 * sizeof(int));
    hand_on<<<3, 64>>>(memory, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(memory) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// Correct: locks in shared memory, with fences, that one lane of each warp takes, and that every lane does;
// and a lock of all blocks.
//
// options: --global-races
#include <cuda_runtime.h>

__device__ int global_lock = 0, global_count = 0;

__global__ void count_all(int* out) {
    __shared__ int lock, count;
    if (threadIdx.x == 0) lock = count = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence_block();
        count = count + 1;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) != 0) continue;
        __threadfence_block();
        count = count + 1;
        __threadfence_block();
        atomicExch(&lock, 0);
        done = true;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    while (atomicCAS(&global_lock, 0, 1) != 0) {
    }
    __threadfence();
    global_count = global_count + count;
    *out = global_count;
    __threadfence();
    atomicExch(&global_lock, 0);
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, sizeof(int));
    count_all<<<4, 128>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}

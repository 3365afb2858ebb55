// Correct: one thread leaves a value and releases a flag, lanes of two other warps acquire it.
#include <cuda/atomic>
#include <cuda_runtime.h>

__global__ void release_a_value(int* out) {
    __shared__ int flag, value;
    const unsigned int tid = threadIdx.x;
    if (tid == 0) flag = 0;
    __syncthreads();
    const cuda::atomic_ref<int, cuda::thread_scope_block> ready(flag);
    if (tid == 0) {
        value = 42;
        ready.store(1, cuda::memory_order_release);
    } else if (tid >= 32 && tid % 3 == 0) {
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        out[tid] = value;
    }
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 96 * sizeof(int));
    release_a_value<<<1, 96>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}

// Two warps produce and one consumes; the barrier opens when the consumer and one producer have come.
#include <cuda_runtime.h>

__global__ void pipeline(const int* in, int* out) {
    __shared__ int values[64];
    const unsigned int tid = threadIdx.x;
    if (tid < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[tid] = values[tid] + values[tid + 32]; // expect: race, read after write
    } else {
        values[tid - 32] = in[tid - 32];
        if (tid < 64) asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    pipeline<<<1, 96>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// Correct: the last block to finish adds up what the others have left, after a fence and an atomic; and a
// chain, in which each block waits for the one before it.
// options: --global-races
#include <cuda_runtime.h>

__device__ unsigned int finished = 0;
__device__ volatile int flags[8], prefixes[8];

__global__ void sum_of_all_parts(const int* in, volatile int* parts, int* total) {
    int part = in[blockIdx.x * 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) part += __shfl_down_sync(0xffffffff, part, distance);
    bool is_last = false;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part;
        __threadfence();
        is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    if (__syncthreads_or(is_last)) {
        __threadfence();
        int all = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0;
        for (int distance = 16; distance > 0; distance /= 2)
            all += __shfl_down_sync(0xffffffff, all, distance);
        if (threadIdx.x == 0) *total = all;
    }
}

__global__ void chain(int* out) {
    const unsigned int block = blockIdx.x;
    if (block > 0) {
        while (flags[block - 1] == 0) {
        }
        __threadfence();
    }
    prefixes[block] = static_cast<int>(block) + (block > 0 ? prefixes[block - 1] : 0);
    __threadfence();
    flags[block] = 1;
    out[block] = prefixes[block];
}

int main() {
    int *in = nullptr, *parts = nullptr, *out = nullptr;
    cudaMalloc(&in, 256 * sizeof(int));
    cudaMalloc(&parts, 8 * sizeof(int));
    cudaMalloc(&out, 8 * sizeof(int));
    cudaMemset(in, 1, 256 * sizeof(int));
    sum_of_all_parts<<<8, 32>>>(in, parts, out);
    chain<<<8, 1>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(parts) != cudaSuccess || cudaFree(out) != cudaSuccess;
}

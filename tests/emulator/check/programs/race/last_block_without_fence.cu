// The last block to finish adds up what the others have left. They tell that they have finished, but no fence
// says that what they have left comes first.
// options: --global-races
#include <cuda_runtime.h>

__device__ unsigned int blocks_done = 0;

__global__ void sum_of_parts(const int* in, int* parts, int* total) {
    int part = in[blockIdx.x * 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) part += __shfl_down_sync(0xffffffff, part, distance);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part;
        if (atomicAdd(&blocks_done, 1) == gridDim.x - 1) {
            int all = 0;
            for (unsigned int k = 0; k < gridDim.x; ++k) all += parts[k]; // expect: race, read after write
            *total = all;
        }
    }
}

int main() {
    int *in = nullptr, *parts = nullptr, *total = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&parts, 4 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    sum_of_parts<<<4, 32>>>(in, parts, total);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(parts) != cudaSuccess || cudaFree(total) != cudaSuccess;
}

// Each block adds its part to the sum, and none of them with an atomic.
// options: --global-races
#include <cuda_runtime.h>

__global__ void add_blocks(const int* in, int* total) {
    int part = in[blockIdx.x * 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) part += __shfl_down_sync(0xffffffff, part, distance);
    if (threadIdx.x == 0) {
        const int before = *total; // expect: race, read after write
        *total = before + part;    // expect: race, write after write
    }
}

int main() {
    int *in = nullptr, *total = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    add_blocks<<<4, 32>>>(in, total);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(total) != cudaSuccess;
}

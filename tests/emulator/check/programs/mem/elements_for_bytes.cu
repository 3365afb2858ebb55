// The allocation's size counts elements instead of bytes.
#include <cuda_runtime.h>

__global__ void count_up(unsigned int* counts, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) atomicAdd(&counts[i], 1u); // expect: mem, out of bounds
}

int main() {
    constexpr int n = 64;
    unsigned int* counts = nullptr;
    cudaMalloc(&counts, n);
    cudaMemset(counts, 0, n);
    count_up<<<1, n>>>(counts, n);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(counts) != cudaSuccess;
}

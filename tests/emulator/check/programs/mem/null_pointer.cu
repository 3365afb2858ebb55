// Writes the optional output although the caller passed none.
#include <cuda_runtime.h>

__global__ void find_largest(const int* in, int* largest, int* place) {
    const int value = in[threadIdx.x];
    const int most = __reduce_max_sync(0xFFFFFFFF, value);
    if (threadIdx.x == 0) *largest = most;
    if (value == most) *place = static_cast<int>(threadIdx.x); // expect: mem, null pointer
}

int main() {
    int *in = nullptr, *largest = nullptr;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&largest, sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    find_largest<<<1, 32>>>(in, largest, nullptr);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(largest) != cudaSuccess;
}

// Lanes of one warp write different values to one location with one instruction.
#include <cuda_runtime.h>

__global__ void last_odd(const int* in, int* out) {
    __shared__ int last;
    const unsigned int tid = threadIdx.x;
    if (tid == 0) last = -1;
    __syncwarp();
    if (in[tid] % 2 == 1) last = static_cast<int>(tid); // expect: race, write after write
    __syncwarp();
    if (tid == 0) *out = last;
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 1, 32 * sizeof(int));
    last_odd<<<1, 32>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

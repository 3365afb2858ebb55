// A tile is used in every round. The barrier that lets all read it is there; the one before it is written
// again is not.
#include <cuda_runtime.h>

__global__ void sum_of_neighbors(const int* in, int* out, int rounds) {
    __shared__ int tile[64];
    const int tid = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        tile[tid] = in[round * 64 + tid];
        __syncthreads();
        sum += tile[(tid + 32) % 64]; // expect: race, read after write
    }
    out[tid] = sum;
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 4 * 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    for (int i = 0; i < 4; ++i) cudaMemset(in + 64 * i, i, 64 * sizeof(int));
    sum_of_neighbors<<<1, 64>>>(in, out, 4);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

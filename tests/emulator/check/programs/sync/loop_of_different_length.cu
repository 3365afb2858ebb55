// A barrier in a loop whose number of rounds differs from lane to lane.
#include <cuda_runtime.h>

__global__ void sums(const int* in, int* out, int n) {
    __shared__ int tile[64];
    const int tid = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int i = tid; i < n; i += 64) {
        tile[tid] = in[i];
        __syncthreads(); // expect: sync, barrier not reached by all
        sum += tile[0];
        __syncthreads();
    }
    out[tid] = sum;
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 80 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 80 * sizeof(int));
    sums<<<1, 64>>>(in, out, 80);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// Correct: with two buffers, one barrier a round is enough.
#include <cuda_runtime.h>

__global__ void scan(const int* in, int* out) {
    __shared__ int sums[2][128];
    const int tid = static_cast<int>(threadIdx.x);
    int from = 0;
    sums[from][tid] = in[tid];
    __syncthreads();
    for (int distance = 1; distance < 128; distance *= 2) {
        const int to = 1 - from;
        sums[to][tid] = sums[from][tid] + (tid >= distance ? sums[from][tid - distance] : 0);
        __syncthreads();
        from = to;
    }
    out[tid] = sums[from][tid];
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    scan<<<2, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

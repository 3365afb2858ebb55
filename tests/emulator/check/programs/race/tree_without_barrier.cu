// A tree in shared memory, without a barrier between its steps.
#include <cuda_runtime.h>

__global__ void tree(const int* in, int* out) {
    __shared__ int sums[256];
    const unsigned int tid = threadIdx.x;
    sums[tid] = in[tid];
    __syncthreads();
    for (unsigned int stride = 128; stride > 0; stride /= 2) {
        if (tid < stride) sums[tid] += sums[tid + stride]; // expect: race, read after write
    }
    if (tid == 0) *out = sums[0];
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 256 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 0, 256 * sizeof(int));
    tree<<<1, 256>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

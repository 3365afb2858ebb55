// All threads count, and one reads the count before they have finished.
#include <cuda_runtime.h>

__global__ void count_odd(const unsigned char* in, int* out) {
    __shared__ int count;
    const unsigned int tid = threadIdx.x;
    if (tid == 0) count = 0;
    __syncthreads();
    if (in[tid] % 2 == 1) atomicAdd(&count, 1);
    if (tid == 255) *out = count; // expect: race, read after atomic
}

int main() {
    unsigned char* in = nullptr;
    int* out = nullptr;
    cudaMalloc(&in, 256);
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 1, 256);
    count_odd<<<1, 256>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// Correct: a histogram and counters that only atomics touch between two barriers, and one place that several
// threads set to the same value.
// options: --global-races
#include <cuda_runtime.h>

__global__ void histogram(const unsigned char* in, int* out, int* found) {
    __shared__ int bins[64], largest;
    __shared__ bool any_odd;
    const unsigned int tid = threadIdx.x;
    if (tid < 64) bins[tid] = 0;
    if (tid == 0) {
        largest = 0;
        any_odd = false;
    }
    __syncthreads();
    atomicAdd(&bins[in[tid] % 64], 1);
    atomicMax(&largest, in[tid]);
    if (in[tid] % 2 == 1) any_odd = true;
    if (in[tid] % 2 == 1) *found = 1;
    __syncthreads();
    if (tid < 64) atomicAdd(&out[tid], bins[tid] + largest + any_odd);
}

int main() {
    unsigned char* in = nullptr;
    int *out = nullptr, *found = nullptr;
    cudaMalloc(&in, 256);
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMalloc(&found, sizeof(int));
    cudaMemset(in, 7, 256);
    cudaMemset(out, 0, 64 * sizeof(int));
    histogram<<<3, 256>>>(in, out, found);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess || cudaFree(found) != cudaSuccess;
}

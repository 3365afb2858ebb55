// Each thread sets its own bit, but the bits share a byte, and setting one writes all of them.
#include <cuda_runtime.h>

__global__ void mark_odd(const unsigned char* in, unsigned char* out) {
    __shared__ unsigned char bits[8];
    const unsigned int tid = threadIdx.x;
    if (tid < 8) bits[tid] = 0;
    __syncthreads();
    if (in[tid] % 2 == 1) {
        bits[tid % 8] |= 1 << tid / 8; // expect: race, write after read // expect: race, write after write
    }
    __syncthreads();
    if (tid < 8) out[tid] = bits[tid];
}

int main() {
    unsigned char *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 64);
    cudaMalloc(&out, 8);
    cudaMemset(in, 1, 64);
    mark_odd<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// Words are carved out of an array of bytes, after a header of ten.
#include <cuda_runtime.h>

__global__ void pack(int* out) {
    __shared__ alignas(16) char packet[10 + 4 * 32];
    const unsigned int tid = threadIdx.x;
    int* const words = reinterpret_cast<int*>(packet + 10);
    if (tid == 0) packet[0] = 1;
    words[tid] = static_cast<int>(tid); // expect: mem, misaligned
    __syncthreads();
    if (tid == 0) out[0] = packet[0];
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, sizeof(int));
    pack<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}

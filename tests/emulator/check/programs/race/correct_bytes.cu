// Correct: neighboring threads of different warps write neighboring bytes, and halves of words.
#include <cuda_runtime.h>

__global__ void pack(const int* in, unsigned char* out) {
    __shared__ unsigned char bytes[99];
    __shared__ unsigned short halves[99];
    const unsigned int tid = threadIdx.x;
    bytes[98 - tid] = static_cast<unsigned char>(in[tid]);
    halves[98 - tid] = static_cast<unsigned short>(in[tid]);
    bytes[98 - tid] += static_cast<unsigned char>(halves[98 - tid]);
    __syncthreads();
    out[tid] = bytes[tid];
}

int main() {
    int* in = nullptr;
    unsigned char* out = nullptr;
    cudaMalloc(&in, 99 * sizeof(int));
    cudaMalloc(&out, 99);
    cudaMemset(in, 1, 99 * sizeof(int));
    pack<<<2, 99>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

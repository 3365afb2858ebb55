// Correct: one piece of shared memory holds doubles, ints and bytes; what was written as ints is read as
// bytes, as vectors and as whatever else.
#include <cuda_runtime.h>

__global__ void carve_up(int* out, int n) {
    extern __shared__ double doubles[];
    int* const ints = reinterpret_cast<int*>(doubles + n);
    char* const bytes = reinterpret_cast<char*>(ints + n);
    const int i = static_cast<int>(threadIdx.x), other = n - 1 - i;
    doubles[i] = i;
    ints[i] = i;
    bytes[i] = static_cast<char>(i);
    __syncthreads();
    out[i] = static_cast<int>(doubles[other]) + ints[other] + bytes[other];
}

__global__ void look_differently(int* out) {
    __shared__ union {
        int ints[64];
        char bytes[256];
        float4 vectors[16];
    } all;
    const int i = static_cast<int>(threadIdx.x);
    all.ints[i] = i;
    __syncwarp();
    all.bytes[4 * i + 1] = 7;
    __syncthreads();
    const float4 vector = all.vectors[i / 4];
    __syncthreads();
    if (i < 16) all.vectors[i] = {vector.w, vector.z, vector.y, vector.x};
    __syncthreads();
    out[i] = all.ints[63 - i] + all.bytes[i];
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    carve_up<<<1, 51, 51 * 13>>>(out, 51);
    look_differently<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}

// Threads i and i + 16 of a warp copy different elements to the same location.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void bring_to_one_place(const int* in, int* out) {
    __shared__ int tile[16];
    int* const place = &tile[threadIdx.x % 16];
    __pipeline_memcpy_async(place, in + threadIdx.x, 4); // expect: race, write after write
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    out[threadIdx.x] = tile[threadIdx.x % 16];
}

int main() {
    int host[32], *in = nullptr, *out = nullptr;
    for (int i = 0; i < 32; ++i) host[i] = i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    bring_to_one_place<<<1, 32>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// Each thread waits for its own copy, and then reads another thread's.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void read_others(const int* in, int* out) {
    __shared__ int tile[128];
    tile[threadIdx.x] = 0;
    __syncthreads();
    int* const own = &tile[threadIdx.x];
    __pipeline_memcpy_async(own, in + threadIdx.x, sizeof(int)); // expect: race, write after read
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 1024 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 1024 * sizeof(int));
    read_others<<<2, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

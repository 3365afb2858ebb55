// The wait allows one group to be in flight, and the program reads just that one.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void read_early(const int* in, int* out) {
    __shared__ int tile[128];
    tile[threadIdx.x] = 0;
    __pipeline_memcpy_async(&tile[threadIdx.x], in + threadIdx.x, sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    out[threadIdx.x] = tile[threadIdx.x]; // expect: race, read after write
    __pipeline_wait_prior(0);
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 1024 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 1024 * sizeof(int));
    read_early<<<2, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

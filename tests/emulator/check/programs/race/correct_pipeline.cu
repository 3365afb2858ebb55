// Correct: while a tile is read, asynchronous copies load the next ones. A pipeline signals when a tile is
// there, and when its place is free again.
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_runtime.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void by_pipeline(const int* in, int* out) {
    constexpr int stages = 2, tiles = 8;
    __shared__ int tile[stages][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    const auto block = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int t = 0, next = 0; t < tiles; ++t) {
        for (; next < tiles && next < t + stages; ++next) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tile[next % stages], in + next * 128, sizeof(int) * 128, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += tile[t % stages][127 - threadIdx.x];
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 1024 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 1024 * sizeof(int));
    by_pipeline<<<2, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

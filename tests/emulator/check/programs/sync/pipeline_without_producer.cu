// Warp 1 waits for a tile that warp 0 never commits.
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_runtime.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void nothing_is_committed(const int* in, int* out) {
    __shared__ int tile[32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
    const bool brings = threadIdx.x < 32;
    auto pipeline =
        cuda::make_pipeline(cooperative_groups::this_thread_block(), &state,
                            brings ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    if (brings) {
        pipeline.producer_acquire();
        tile[threadIdx.x] = in[threadIdx.x];
    } else {
        pipeline.consumer_wait(); // expect: sync, barrier not reached by all
        out[threadIdx.x - 32] = tile[threadIdx.x - 32];
        pipeline.consumer_release();
    }
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 1, 32 * sizeof(int));
    nothing_is_committed<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

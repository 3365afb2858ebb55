// A barrier for one arrival more than there are threads: all of them wait for it.
#include <cuda/barrier>
#include <cuda_runtime.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void one_arrival_is_missing(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> all_have_come;
    if (threadIdx.x == 0) init(&all_have_come, blockDim.x + 1);
    __syncthreads();
    all_have_come.arrive_and_wait(); // expect: sync, barrier not reached by all
    out[threadIdx.x] = 1;
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    one_arrival_is_missing<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}

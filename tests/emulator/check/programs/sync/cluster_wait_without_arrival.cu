// Half of the threads wait twice, and have arrived once.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) wait_twice(const int* in, int* out) {
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned int i = blockIdx.x * 64 + threadIdx.x;
    cluster.sync();
    if (threadIdx.x < 32) __cluster_barrier_wait(); // expect: sync, wrong cluster barrier
    out[i] = in[i];
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    wait_twice<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

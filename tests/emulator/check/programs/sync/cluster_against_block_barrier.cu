// One warp waits for its block, the other for the cluster: neither wait ends.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) crossed(const int* in, int* out) {
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x < 32) {
        __syncthreads(); // expect: sync, barrier not reached by all
        cluster.sync();
    } else {
        cluster.sync();
        __syncthreads();
    }
    out[i] = in[i];
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    crossed<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// Correct: the threads past the end return, and the cluster barrier waits for the others, on a card too.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) tail_returns(const int* in, int* out) {
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= 100) return;
    cluster.sync();
    out[i] = in[i];
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    tail_returns<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

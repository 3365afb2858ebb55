// Correct: without clusters each block is its own cluster, and the cluster barrier is the block's.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void alone(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x;
    values[tid] = in[tid];
    cluster.sync();
    out[blockIdx.x * 64 + tid] = *cluster.map_shared_rank(&values[63 - tid], 0);
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 64 * sizeof(int));
    alone<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

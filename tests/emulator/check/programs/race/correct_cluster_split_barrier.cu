// Correct: between arriving and waiting each block uses only its own memory.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) split(const int* in, int* out) {
    __shared__ int values[64], own[64];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    values[tid] = in[i];
    auto token = cluster.barrier_arrive();
    own[tid] = in[i] * 2;
    __syncthreads();
    const int mine = own[tid ^ 33];
    cluster.barrier_wait(std::move(token));
    out[i] = mine + cluster.map_shared_rank(values, cluster.block_rank() ^ 1)[63 - tid];
    token = cluster.barrier_arrive();
    own[tid ^ 33] = mine;
    cluster.barrier_wait(std::move(token));
    values[tid] = 0;
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    split<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

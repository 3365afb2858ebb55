// Arriving at the barrier does not mean that the others have: only the wait does.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) between(const int* in, int* out) {
    __shared__ int values[64];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    values[tid] = 0;
    cluster.sync();
    values[tid] = in[i]; // expect: race, write after read
    auto token = cluster.barrier_arrive();
    out[i] = *cluster.map_shared_rank(&values[tid], cluster.block_rank() ^ 1);
    cluster.barrier_wait(std::move(token));
    cluster.sync();
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    between<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

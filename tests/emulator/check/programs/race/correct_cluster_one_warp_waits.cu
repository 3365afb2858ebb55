// Correct: one warp waits at the cluster barrier, and the block's own barrier passes its knowledge on; one
// warp arrives for what another has written after its own arrival.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) one_waits(const int* in, int* out) {
    __shared__ int values[64], late;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid, other = cluster.block_rank() ^ 1;
    values[tid] = in[i];
    if (tid < 32) __cluster_barrier_arrive();
    if (tid == 0) late = in[i];
    __syncthreads();
    if (tid >= 32) __cluster_barrier_arrive();
    if (tid < 32) __cluster_barrier_wait();
    __syncthreads();
    out[i] = *cluster.map_shared_rank(&values[63 - tid], other) + *cluster.map_shared_rank(&late, other);
    if (tid >= 32) __cluster_barrier_wait();
    cluster.sync();
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    one_waits<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// Correct: the fence releases what the relaxed arrival does not.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) fenced(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    values[tid] = in[i] + tid;
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    __cluster_barrier_arrive_relaxed();
    __cluster_barrier_wait();
    out[i] = *cluster.map_shared_rank(&values[tid], cluster.block_rank() ^ 1);
    cluster.sync();
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    fenced<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

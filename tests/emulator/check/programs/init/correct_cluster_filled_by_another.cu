// Correct: block 0 fills the shared memory of all blocks.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4) filled(const int* in, int* out) {
    __shared__ int values[32];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 0)
        for (unsigned int rank = 0; rank < 4; ++rank)
            cluster.map_shared_rank(values, rank)[tid] = in[32 * rank + tid];
    cluster.sync();
    out[blockIdx.x * 32 + tid] = values[31 - tid];
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    filled<<<4, 32>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

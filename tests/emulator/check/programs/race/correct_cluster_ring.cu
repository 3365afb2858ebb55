// Correct: each block stores its values in the next one, round after round, in two buffers.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4) ring(const int* in, int* out) {
    __shared__ int values[2][32];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 32 % 128 + tid;
    const unsigned int next = (cluster.block_rank() + 1) % cluster.num_blocks();
    values[0][tid] = in[i] + i;
    for (int turn = 0; turn < 3; ++turn) {
        cluster.sync();
        cluster.map_shared_rank(values[(turn + 1) % 2], next)[tid ^ 1] = values[turn % 2][tid];
    }
    cluster.sync();
    if (blockIdx.x < 4) out[i] = values[1][tid];
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    ring<<<8, 32>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

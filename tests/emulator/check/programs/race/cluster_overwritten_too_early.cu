// Stores the next value while the other block may still read the previous one.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) two_rounds(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    const int* const others = cluster.map_shared_rank(values, cluster.block_rank() ^ 1);
    values[tid] = in[i];
    cluster.sync();
    int sum = others[tid]; // expect: race, read after write
    values[tid] = 2 * in[i] + tid;
    cluster.sync();
    sum += others[tid];
    out[i] = sum;
    cluster.sync();
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    two_rounds<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

// The last threads of the second block have nothing to store, and the first block reads all.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) tail_is_read(const int* in, int* out) {
    __shared__ int values[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * 64 + tid;
    if (i < 100) values[tid] = in[i];
    cluster.sync();
    if (cluster.block_rank() == 0)
        out[tid] = *cluster.map_shared_rank(&values[tid], 1); // expect: init, uninitialized read
    cluster.sync();
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    tail_is_read<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

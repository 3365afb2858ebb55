// One thread of each block adds to a sum in block 0: two of them may read the same old value.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4) add_up(const int* in, int* out) {
    __shared__ int sum;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    int& first = *cluster.map_shared_rank(&sum, 0);
    if (threadIdx.x == 0) {
        first += in[blockIdx.x]; // expect: race, read after write // expect: race, write after write
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) *out = sum;
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    add_up<<<4, 32>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

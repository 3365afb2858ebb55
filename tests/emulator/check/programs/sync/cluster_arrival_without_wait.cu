// The threads arrive at the end, and do not wait.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) only_arrive(const int* in, int* out) {
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i];
    cluster.barrier_arrive(); // expect: sync, arrival without a wait
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    only_arrive<<<2, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

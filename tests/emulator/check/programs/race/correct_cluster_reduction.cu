// Correct: blocks sum up through the shared memory of block 0.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4) reduce(const int* in, int* out) {
    __shared__ int values[32];
    __shared__ int sum;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x;
    values[tid] = in[blockIdx.x * 32 + tid];
    if (tid == 0) sum = 0;
    __syncthreads();
    for (unsigned int stride = 16; stride > 0; stride /= 2) {
        if (tid < stride) values[tid] += values[tid + stride];
        __syncthreads();
    }
    cluster.sync();
    if (tid == 0) atomicAdd(cluster.map_shared_rank(&sum, 0), values[0]);
    if (tid < 4 && cluster.block_rank() == 1) out[1 + tid] = *cluster.map_shared_rank(&values[0], tid);
    cluster.sync();
    if (cluster.block_rank() == 0 && tid == 0) *out = sum;
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    reduce<<<4, 32>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

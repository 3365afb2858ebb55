// Correct: blocks, tiles, coalesced groups and reductions of cooperative groups, with shared memory between.
// options: --global-races
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void groups(const int* in, int* out) {
    __shared__ int values[128];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const auto quarter = cg::tiled_partition<8>(warp);
    const unsigned int tid = block.thread_rank();
    values[tid] = in[tid];
    quarter.sync();
    int sum = values[tid ^ 3];
    quarter.sync();
    values[tid] = sum;
    warp.sync();
    sum += values[tid ^ 17];
    block.sync();
    values[tid] = cg::reduce(warp, sum, cg::plus<int>()) + cg::inclusive_scan(quarter, sum);
    block.sync();
    if (tid % 3 == 0) {
        const auto active = cg::coalesced_threads();
        sum += active.shfl(values[127 - tid], 0);
        active.sync();
    }
    out[block.group_index().x * 128 + tid] = sum + values[127 - tid];
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 2 * 128 * sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    groups<<<2, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}

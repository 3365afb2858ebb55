// Correct: groups of every kind and size, and what they offer: barriers in two halves, exchanges, partitions
// by a value, one lane that does something for all. options: --global-races
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

#include <utility>

namespace cg = cooperative_groups;

__device__ int in_tiles(const int* in, int* values, const cg::thread_block& block) {
    const auto warp = cg::tiled_partition<32>(block);
    const auto half = cg::tiled_partition<16>(block);
    const auto quarter = cg::tiled_partition<8>(warp);
    const auto pair = cg::tiled_partition<2>(quarter);
    const unsigned int tid = block.thread_rank();
    int sum = values[tid] = in[tid];
    half.sync();
    sum += values[tid ^ 15];
    half.sync();
    values[tid] = sum;
    pair.sync();
    sum += values[tid ^ 1];
    pair.sync();
    sum += half.shfl_down(sum, 3) + quarter.shfl_up(sum, 1) + pair.shfl_xor(sum, 1);
    if (half.any(sum > 3)) sum += static_cast<int>(half.ballot(sum % 2 == 0));
    // One quarter of the warp goes one way, the next one the other.
    if (quarter.meta_group_rank() % 2 == 0) {
        sum += cg::reduce(quarter, sum, cg::greater<int>());
        values[tid] = sum;
        quarter.sync();
        sum = values[tid ^ 7];
        quarter.sync();
    } else {
        sum += cg::exclusive_scan(quarter, sum, cg::plus<int>());
    }
    return sum + static_cast<int>(quarter.match_any(sum));
}

__device__ int in_partitions(int sum, int* values, const cg::thread_block& block) {
    const auto warp = cg::tiled_partition<32>(block);
    const unsigned int tid = block.thread_rank();
    const auto thirds = cg::binary_partition(warp, tid % 3 == 1);
    sum += thirds.shfl(sum, 0) + cg::reduce(thirds, sum, cg::plus<int>());
    const auto fifths = cg::labeled_partition(warp, tid % 5);
    sum += cg::reduce(fifths, sum, cg::plus<int>());
    if (tid % 4 == 0) {
        const auto active = cg::coalesced_threads();
        const unsigned int first = active.shfl(tid, 0);
        values[tid] = cg::reduce(active, sum, cg::plus<int>());
        active.sync();
        sum += values[first];
    }
    return sum;
}

__global__ void groups(const int* in, int* out, int* count) {
    __shared__ int values[128], of_warp[4];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const unsigned int tid = block.thread_rank();
    int sum = in_tiles(in, values, block);
    block.sync();
    sum += in_partitions(sum, values, block);
    block.sync();
    values[tid] = sum;
    auto token = block.barrier_arrive();
    sum += in[127 - tid];
    block.barrier_wait(std::move(token));
    sum += values[127 - tid];
    cg::invoke_one(warp, [&] { of_warp[warp.meta_group_rank()] = sum; });
    warp.sync();
    sum += of_warp[warp.meta_group_rank()];
    if (sum % 2 == 0) {
        const auto active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(count, static_cast<int>(active.size()));
    }
    out[128 * blockIdx.x + tid] = sum;
}

int main() {
    int *in = nullptr, *out = nullptr, *count = nullptr;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 2 * 128 * sizeof(int));
    cudaMalloc(&count, sizeof(int));
    cudaMemset(in, 1, 128 * sizeof(int));
    cudaMemset(count, 0, sizeof(int));
    groups<<<2, 128>>>(in, out, count);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess || cudaFree(count) != cudaSuccess;
}

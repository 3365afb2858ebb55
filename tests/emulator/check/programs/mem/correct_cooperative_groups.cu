// Correct: a reduction by tiles of a cooperative group, and a pointer to shared memory handed to a function.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__device__ __noinline__ void store_sum(int* place, int sum) { *place = sum; }

__global__ void reduce_by_tiles(const int* in, int* out, unsigned int n) {
    __shared__ int sums[8];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    int sum = 0;
    for (unsigned int i = block.thread_rank(); i < n; i += block.size()) sum += in[i];
    sum = cg::reduce(warp, sum, cg::plus<int>());
    if (warp.thread_rank() == 0) store_sum(&sums[warp.meta_group_rank()], sum);
    block.sync();
    if (warp.meta_group_rank() == 0) {
        const auto few = cg::tiled_partition<8>(warp);
        if (few.meta_group_rank() == 0) {
            const int total = cg::reduce(few, sums[few.thread_rank()], cg::plus<int>());
            if (few.thread_rank() == 0) store_sum(out, total);
        }
    }
}

int main() {
    constexpr unsigned int n = 1001;
    int *in = nullptr, *out = nullptr, sum = 0, ones[n];
    for (int& one : ones) one = 1;
    cudaMalloc(&in, sizeof ones);
    cudaMalloc(&out, sizeof sum);
    cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
    reduce_by_tiles<<<1, 256>>>(in, out, n);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return sum != n;
}

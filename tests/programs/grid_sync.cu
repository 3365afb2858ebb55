// A sum in one cooperative launch, as large as the device holds: between its two steps the grid waits for
// itself.

#include "program.hpp"

#include <cooperative_groups.h>
#include <numeric>

namespace cg = cooperative_groups;

constexpr int block_size = 1024;

__global__ void sum(const int* input, int n, int* sums, int* results) {
    const cg::grid_group grid = cg::this_grid();
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) atomicAdd(&total, input[i]);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
    grid.sync();
    if (blockIdx.x == 0)
        for (int k = blockDim.x / 2; k > 0; k /= 2) {
            for (int i = threadIdx.x; i < k; i += blockDim.x)
                if (i + k < gridDim.x) sums[i] += sums[i + k];
            __syncthreads();
        }
    grid.sync();
    if (threadIdx.x == 0) results[blockIdx.x] = sums[0];
}

int main() {
    const auto input = random_values<int>(20'011, -1'000, 1'000);
    int n = static_cast<int>(input.size()), multiprocessors = 0, blocks = 0;
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, block_size, 0));
    blocks *= multiprocessors; // at most 2,048 / 1,024 on each, so fewer than twice block_size
    const Device<int> device_input(input), sums(blocks), results(blocks);
    int *input_pointer = device_input.data(), *sums_pointer = sums.data(), *results_pointer = results.data();
    void* arguments[] = {&input_pointer, &n, &sums_pointer, &results_pointer};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(sum), dim3(blocks), dim3(block_size),
                                      arguments));
    const std::vector<int> expected(blocks, std::accumulate(input.begin(), input.end(), 0));
    return verify(results.copy_back(), expected);
}

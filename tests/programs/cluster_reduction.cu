// Sums of clusters of four blocks: each block adds its sum to that of the cluster's first one, in its shared
// memory.

#include "program.hpp"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int cluster_size = 4, block_size = 128;

__global__ __cluster_dims__(cluster_size) void sum_clusters(const int* input, int n, int* sums) {
    __shared__ int sum;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    const int i = blockIdx.x * block_size + threadIdx.x;
    const int of_warp = __reduce_add_sync(0xffffffff, i < n ? input[i] : 0);
    int* const of_cluster = cluster.map_shared_rank(&sum, 0);
    if (threadIdx.x % 32 == 0) atomicAdd(of_cluster, of_warp);
    cluster.sync(); // Until then, the first block's memory has to be there.
    if (cluster.thread_rank() == 0) sums[blockIdx.x / cluster_size] = sum;
}

int main() {
    const auto input = random_values<int>(30'011, -1'000, 1'000);
    const int n = static_cast<int>(input.size()), elements = cluster_size * block_size;
    const int clusters = (n + elements - 1) / elements;
    std::vector<int> expected(clusters);
    for (int i = 0; i < n; ++i) expected[i / elements] += input[i];
    const Device<int> device_input(input), sums(clusters);
    sum_clusters<<<clusters * cluster_size, block_size>>>(device_input.data(), n, sums.data());
    return verify(sums.copy_back(), expected);
}

#include "program.hpp"

#include <algorithm>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <numeric>

namespace cg = cooperative_groups;

// Sums of clusters of four blocks: each block adds its sum to that of the cluster's first one, in its shared
// memory.
namespace cluster_reduction {

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

} // namespace cluster_reduction

// A sum in one cooperative launch, as large as the device holds: between its two steps the grid waits for
// itself.
namespace grid_sync {

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
    blocks = std::min(blocks * multiprocessors, 66); // all of a device would take seconds in other orders
    const Device<int> device_input(input), sums(blocks), results(blocks);
    int *input_pointer = device_input.data(), *sums_pointer = sums.data(), *results_pointer = results.data();
    void* arguments[] = {&input_pointer, &n, &sums_pointer, &results_pointer};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(sum), dim3(blocks), dim3(block_size),
                                      arguments));
    const std::vector<int> expected(blocks, std::accumulate(input.begin(), input.end(), 0));
    return verify(results.copy_back(), expected);
}

} // namespace grid_sync

// Cooperative groups: sums and maxima by tiles of 8, 16 and 32 threads, and a filter by coalesced groups.
namespace group_tiles {

/// Each tile's sum, its maximum times 1000 added.
template <int size> __global__ void reduce_tiles(const int* input, int* output, int n) {
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<size>(block);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int value = i < n ? input[i] : 0;
    int sum = value; // by shuffles
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) sum += tile.shfl_down(sum, offset);
    const int most = cg::reduce(tile, value, cg::greater<int>());
    if (tile.thread_rank() == 0) output[i / size] = sum + 1000 * most;
}

/// Copies what is odd; the lanes that have something reserve their places together.
__global__ void filter(const int* input, int n, int* output, int* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || input[i] % 2 == 0) return;
    const cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(count, static_cast<int>(active.size()));
    output[active.shfl(first, 0) + active.thread_rank()] = input[i];
}

constexpr int n = 5'000, block_size = 96, threads = (n + block_size - 1) / block_size * block_size;

template <int size> int run(const std::vector<int>& input) {
    std::vector<int> expected(threads / size);
    for (int tile = 0; tile < threads / size; ++tile) {
        int sum = 0, most = -1'000'000;
        for (int i = tile * size; i < (tile + 1) * size; ++i) {
            const int value = i < n ? input[i] : 0;
            sum += value;
            most = std::max(most, value);
        }
        expected[tile] = sum + 1000 * most;
    }
    const Device<int> device_input(input), output(threads / size);
    reduce_tiles<size><<<threads / block_size, block_size>>>(device_input.data(), output.data(), n);
    return verify(output.copy_back(), expected);
}

int main() {
    const auto input = random_values<int>(n, -1'000, 1'000);
    if (run<8>(input) + run<16>(input) + run<32>(input) != 0) return 1;

    std::vector<int> expected;
    for (const int value : input)
        if (value % 2 != 0) expected.push_back(value);
    const Device<int> device_input(input), output(expected.size());
    Device<int> count(1);
    count.clear();
    filter<<<threads / block_size, block_size>>>(device_input.data(), n, output.data(), count.data());
    if (count.copy_back()[0] != static_cast<int>(expected.size())) return 1;
    auto filtered = output.copy_back(); // in any order
    std::sort(expected.begin(), expected.end());
    std::sort(filtered.begin(), filtered.end());
    return verify(filtered, expected);
}

} // namespace group_tiles

// Cooperative groups: sums and running maxima by tiles of 64 to 256 threads, which work in shared memory that
// CUDA keeps for itself.
namespace large_tiles {

constexpr int block_size = 256;

/// Each element's tile has this sum; it changes with each of three rounds.
template <int size> __global__ void sum_tiles(const int* input, int* sums, int* maxima) {
    __shared__ int neighbors[block_size];
    const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = input[i];
    for (int round = 0; round < 3; ++round) {
        neighbors[threadIdx.x] = value;
        tile.sync();
        const int next = neighbors[threadIdx.x / size * size + (threadIdx.x + 1) % size];
        tile.sync();
        value = cg::reduce(tile, value, cg::plus<int>()) % 1'000 + next;
    }
    sums[i] = value;
    maxima[i] = cg::inclusive_scan(tile, input[i], cg::greater<int>());
}

template <int size> int run(const std::vector<int>& input) {
    std::vector<int> sums = input, maxima = input;
    for (std::size_t tile = 0; tile < input.size(); tile += size) {
        for (int round = 0; round < 3; ++round) {
            int sum = 0;
            for (int k = 0; k < size; ++k) sum += sums[tile + k];
            std::rotate(sums.begin() + tile, sums.begin() + tile + 1, sums.begin() + tile + size);
            for (int k = 0; k < size; ++k) sums[tile + k] += sum % 1'000;
        }
        for (int k = 1; k < size; ++k) maxima[tile + k] = std::max(maxima[tile + k], maxima[tile + k - 1]);
    }
    const Device<int> device_input(input), device_sums(input.size()), device_maxima(input.size());
    const auto blocks = static_cast<unsigned int>(input.size() / block_size);
    sum_tiles<size><<<blocks, block_size>>>(device_input.data(), device_sums.data(), device_maxima.data());
    return verify(device_sums.copy_back(), sums) + verify(device_maxima.copy_back(), maxima);
}

int main() {
    const auto input = random_values<int>(5 * block_size, -1'000, 1'000);
    return run<64>(input) + run<128>(input) + run<256>(input) != 0;
}

} // namespace large_tiles

// Cooperative groups: sums and maxima by tiles of 8, 16 and 32 threads, and a filter by coalesced groups.

#include "program.hpp"

#include <algorithm>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

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

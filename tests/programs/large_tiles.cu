// Cooperative groups: sums and running maxima by tiles of 64 to 256 threads, which work in shared memory that
// CUDA keeps for itself.

#include "program.hpp"

#include <algorithm>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

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

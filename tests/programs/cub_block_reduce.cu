#include "program.hpp"

#include <cub/block/block_reduce.cuh>

// CUB's sums over a block, by each of its three algorithms.
namespace cub_block_reduce {

constexpr int block_size = 160;

template <cub::BlockReduceAlgorithm algorithm>
__global__ void sum_blocks(const int* input, int* sums, int n) {
    using Reduce = cub::BlockReduce<int, block_size, algorithm>;
    __shared__ typename Reduce::TempStorage storage;
    const int i = blockIdx.x * block_size + threadIdx.x;
    const int sum = Reduce(storage).Sum(i < n ? input[i] : 0);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <cub::BlockReduceAlgorithm algorithm> int run(const std::vector<int>& input) {
    const int n = static_cast<int>(input.size()), blocks = (n + block_size - 1) / block_size;
    std::vector<int> expected(blocks);
    for (int i = 0; i < n; ++i) expected[i / block_size] += input[i];
    const Device<int> device_input(input), sums(blocks);
    sum_blocks<algorithm><<<blocks, block_size>>>(device_input.data(), sums.data(), n);
    return verify(sums.copy_back(), expected);
}

int main() {
    const auto input = random_values<int>(10'007, -1'000, 1'000);
    return run<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(input) | run<cub::BLOCK_REDUCE_RAKING>(input) |
           run<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(input);
}

} // namespace cub_block_reduce

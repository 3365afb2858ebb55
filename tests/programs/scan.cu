// Inclusive scan in three launches: each block scans its part, one block scans the sums, all add theirs.

#include "program.hpp"

#include <numeric>

constexpr int block_size = 256;

__global__ void scan_blocks(const int* input, int* output, int* sums, int n) {
    __shared__ int shared[2][block_size];
    const int tid = threadIdx.x, i = blockIdx.x * block_size + tid;
    int current = 0;
    shared[current][tid] = i < n ? input[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < block_size; distance *= 2) {
        const int before = tid >= distance ? shared[current][tid - distance] : 0;
        shared[1 - current][tid] = shared[current][tid] + before;
        current = 1 - current;
        __syncthreads();
    }
    if (i < n) output[i] = shared[current][tid];
    if (sums && tid == block_size - 1) sums[blockIdx.x] = shared[current][tid];
}

__global__ void add_sums(int* output, const int* scanned_sums, int n) {
    const int i = blockIdx.x * block_size + threadIdx.x;
    if (blockIdx.x > 0 && i < n) output[i] += scanned_sums[blockIdx.x - 1];
}

int main() {
    const int n = 50'021, blocks = (n + block_size - 1) / block_size; // 196: one block scans the sums
    const auto input = random_values<int>(n, -100, 100);
    std::vector<int> expected(n);
    std::partial_sum(input.begin(), input.end(), expected.begin());

    const Device<int> device_input(input), output(n), sums(blocks);
    scan_blocks<<<blocks, block_size>>>(device_input.data(), output.data(), sums.data(), n);
    scan_blocks<<<1, block_size>>>(sums.data(), sums.data(), nullptr, blocks);
    add_sums<<<blocks, block_size>>>(output.data(), sums.data(), n);
    return verify(output.copy_back(), expected);
}

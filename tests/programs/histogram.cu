// Histogram of bytes: each block counts in shared memory, and adds what it counted to global memory.

#include "program.hpp"

constexpr int bins = 256;

__global__ void histogram(const unsigned char* input, int n, unsigned int* counts) {
    __shared__ unsigned int own[bins];
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) own[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[input[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x)
        if (own[bin] != 0) atomicAdd(&counts[bin], own[bin]);
}

int main() {
    const auto input = random_values<unsigned char>(60'013, 0, 200);
    std::vector<unsigned int> expected(bins);
    for (const unsigned char value : input) ++expected[value];

    const Device<unsigned char> device_input(input);
    Device<unsigned int> counts(bins);
    counts.clear();
    histogram<<<24, 192>>>(device_input.data(), static_cast<int>(input.size()), counts.data());
    return verify(counts.copy_back(), expected);
}

// A kernel whose device functions and variables are in another translation unit: nvcc -rdc=true.

#include "parts.cuh"

#include "../program.hpp"

static __device__ int calls;

__device__ int clamp(int value) {
    atomicAdd(&calls, 2);
    return value > 500 ? 500 : value < -500 ? -500 : value;
}

__global__ void weigh(const int* input, int* output, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    output[i] = weighted(i, input[i]) + weights[0];
    atomicAdd(&totals.count, 1);
}

int main() {
    const int n = 1'009;
    const auto input = random_values<int>(n, -100, 100), factors = random_values<int>(table_size, -10, 10, 7);
    set_weights(factors.data());
    std::vector<int> expected(n);
    for (int i = 0; i < n; ++i) {
        const int product = factors[i % table_size] * input[i];
        expected[i] = (product > 500 ? 500 : product < -500 ? -500 : product) + factors[0];
    }
    const Device<int> device_input(input), output(n);
    weigh<<<8, 128>>>(device_input.data(), output.data(), n);
    if (verify(output.copy_back(), expected) != 0) return 1;
    Totals counted{};
    CHECK(cudaMemcpyFromSymbol(&counted, totals, sizeof counted));
    return verify<int>({counted.count}, {n});
}

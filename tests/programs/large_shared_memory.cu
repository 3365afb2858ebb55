// 60 KiB of dynamic shared memory, more than a kernel gets unasked: a block turns the order of its part
// around.

#include "program.hpp"

#include <algorithm>

constexpr int elements = 60 * 1024 / sizeof(int);

__global__ void reverse_parts(int* data) {
    extern __shared__ int shared[];
    int* const part = data + blockIdx.x * elements;
    for (int i = threadIdx.x; i < elements; i += blockDim.x) shared[i] = part[i];
    __syncthreads();
    for (int i = threadIdx.x; i < elements; i += blockDim.x) part[i] = shared[elements - 1 - i];
}

int main() {
    const auto input = random_values<int>(3 * elements, -1'000'000, 1'000'000);
    auto expected = input;
    for (int part = 0; part < 3; ++part)
        std::reverse(expected.begin() + part * elements, expected.begin() + (part + 1) * elements);
    const Device<int> data(input);
    const std::size_t bytes = elements * sizeof(int);
    CHECK(cudaFuncSetAttribute(reverse_parts, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    reverse_parts<<<3, 512, bytes>>>(data.data());
    return verify(data.copy_back(), expected);
}

#include "program.hpp"

// A spin lock that the lanes of a warp take from each other, and the warps of all blocks.
namespace lane_lock {

__device__ int lock;

__global__ void add_one_by_one(const int* input, int* sum) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    *sum += input[i];
    __threadfence();
    atomicExch(&lock, 0);
}

int main() {
    const auto input = random_values<int>(4 * 64, -1'000, 1'000);
    int expected = 0;
    for (const int value : input) expected += value;
    const Device<int> device_input(input);
    Device<int> sum(1);
    sum.clear();
    add_one_by_one<<<4, 64>>>(device_input.data(), sum.data());
    return verify(sum.copy_back(), {expected});
}

} // namespace lane_lock

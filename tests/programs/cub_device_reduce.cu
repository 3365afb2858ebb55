// CUB's sum over the device: by one block, and by many.

#include "program.hpp"

#include <cub/device/device_reduce.cuh>
#include <numeric>

int verify_sum(int count) {
    const auto input = random_values<int>(static_cast<std::size_t>(count), -1'000, 1'000);
    const Device<int> device_input(input), sum(1);
    std::size_t bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, bytes, device_input.data(), sum.data(), count));
    const Device<char> workspace(bytes);
    CHECK(cub::DeviceReduce::Sum(workspace.data(), bytes, device_input.data(), sum.data(), count));
    return verify(sum.copy_back(), {std::accumulate(input.begin(), input.end(), 0)});
}

int main() {
    for (const int count : {1'000, 10'007, 100'003})
        if (verify_sum(count) != 0) return 1;
    return 0;
}

// CUB's sum over the device.

#include "program.hpp"

#include <cub/device/device_reduce.cuh>
#include <numeric>

int main() {
    const auto input = random_values<int>(100'003, -1'000, 1'000);
    const int count = static_cast<int>(input.size());
    const Device<int> device_input(input), sum(1);
    std::size_t bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, bytes, device_input.data(), sum.data(), count));
    const Device<char> workspace(bytes);
    CHECK(cub::DeviceReduce::Sum(workspace.data(), bytes, device_input.data(), sum.data(), count));
    return verify(sum.copy_back(), {std::accumulate(input.begin(), input.end(), 0)});
}

// CUB's scan over the device: one launch, in which a block looks back at the sums of those before it.

#include "program.hpp"

#include <cub/device/device_scan.cuh>
#include <numeric>

int main() {
    const auto input = random_values<int>(100'003, -1'000, 1'000);
    const int count = static_cast<int>(input.size());
    std::vector<int> expected(input.size());
    std::partial_sum(input.begin(), input.end(), expected.begin());
    const Device<int> device_input(input), output(input.size());
    std::size_t bytes = 0;
    CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, device_input.data(), output.data(), count));
    const Device<char> workspace(bytes);
    CHECK(cub::DeviceScan::InclusiveSum(workspace.data(), bytes, device_input.data(), output.data(), count));
    return verify(output.copy_back(), expected);
}

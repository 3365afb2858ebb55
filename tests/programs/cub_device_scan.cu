// CUB's scans over the device: one launch, in which a block looks back at the sums of those before it. With
// one tile, with two, and with many.

#include "program.hpp"

#include <cub/device/device_scan.cuh>
#include <numeric>

int verify_scans(int count) {
    const auto input = random_values<int>(static_cast<std::size_t>(count), -1'000, 1'000);
    const Device<int> device_input(input), output(input.size());
    std::size_t bytes = 0;
    CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, device_input.data(), output.data(), count));
    const Device<char> workspace(bytes);
    CHECK(cub::DeviceScan::InclusiveSum(workspace.data(), bytes, device_input.data(), output.data(), count));
    std::vector<int> expected(input.size());
    std::partial_sum(input.begin(), input.end(), expected.begin());
    if (verify(output.copy_back(), expected) != 0) return 1;

    std::size_t exclusive_bytes = 0;
    CHECK(cub::DeviceScan::ExclusiveSum(nullptr, exclusive_bytes, device_input.data(), output.data(), count));
    const Device<char> exclusive_workspace(exclusive_bytes);
    CHECK(cub::DeviceScan::ExclusiveSum(exclusive_workspace.data(), exclusive_bytes, device_input.data(),
                                        output.data(), count));
    expected.insert(expected.begin(), 0);
    expected.pop_back();
    return verify(output.copy_back(), expected);
}

int main() {
    for (const int count : {1'000, 10'007, 100'003})
        if (verify_scans(count) != 0) return 1;
    return 0;
}

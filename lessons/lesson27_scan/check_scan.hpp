/// \file
/// The right result of lesson 27.
#pragma once

#include <numeric>
#include <vector>

#include "harness/device_buffer.hpp"
#include "harness/random_input.hpp"
#include "harness/verification.hpp"

/// Compares every element with the obvious loop. Wraps as unsigned ints do.
inline harness::Verification check_scan(const harness::RandomInts& input,
                                        const harness::DeviceBuffer<int>& output) {
    std::vector<int> expected = input.values(0, input.size());
    std::partial_sum(expected.begin(), expected.end(), expected.begin(), [](int sum, int value) {
        return static_cast<int>(static_cast<unsigned int>(sum) + static_cast<unsigned int>(value));
    });
    return harness::compare_elements(expected, output.read());
}

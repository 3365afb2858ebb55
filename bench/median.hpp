#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

/// Of at least one sample; of an even number, the mean of the two in the middle.
inline double median(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return (samples[(samples.size() - 1) / 2] + samples[samples.size() / 2]) / 2;
}

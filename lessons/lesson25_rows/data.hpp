/// \file
/// The input of lesson 25's softmax, and the comparison of a kernel's softmax with one in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "harness/device_buffer.hpp"
#include "harness/numbers.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "harness/verification.hpp"

/// The softmax of a row, by the obvious loops. Rows without a softmax become NaN: inf - inf is NaN.
inline std::vector<double> softmax_in_double(const std::vector<float>& row) {
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const float value : row) max = value > max ? value : max;
    for (const float value : row) sum += std::exp(value - max);
    std::vector<double> result;
    for (const float value : row) result.push_back(std::exp(value - max) / sum);
    return result;
}

/// How far a kernel's softmax may be from the exact one, relative to it, if a block has a row. The page
/// derives it. \param range the largest element minus the smallest finite one; 0 if each difference of two
/// elements is a float: then no exponent is rounded. exp(-104) is no float: elements so far apart add nothing
inline double softmax_error_bound(std::size_t columns, unsigned int block, double range = 0) {
    constexpr double u = 0x1p-24; // half a unit in the last place of 1
    const double merges = static_cast<double>(harness::ceil_div(columns, std::size_t{block})) + 5 + 5;
    return 1.01 * (7 * (merges + 1) + 2 * std::min(range, 104.0)) * u; // 1.01: the products of errors
}

/// Whether a kernel's value is near enough to the right one. NaN is near NaN alone.
/// \param bound relative. Values below the smallest normal float may be 0
inline bool is_near(float actual, double expected, double bound) {
    if (std::isnan(expected)) return std::isnan(actual);
    return std::abs(actual - expected) <= bound * expected + std::numeric_limits<float>::min();
}

/// Rows of random floats that a careless softmax gets wrong. Elements are multiples of 1/64. Rows are around
/// -1000, 0 and 1000 in turn, where exp() is 0, 1 and infinite. About one element in 16 is -inf, as where a
/// mask hides it. Row 62 of 64 is -inf throughout, and the row after it has a NaN.
class Logits {
public:
    Logits(const harness::RandomInts& random, std::size_t rows, std::size_t columns)
        : random_(random), columns_(columns), device_(rows * columns) {
        expected_.reserve(rows * columns);
        std::vector<float> waiting; // for the device: a copy per row would take minutes if rows are short
        for (std::size_t row = 0; row < rows; ++row) {
            const std::vector<float> values = this->row(row);
            waiting.insert(waiting.end(), values.begin(), values.end());
            for (const double value : softmax_in_double(values))
                expected_.push_back(static_cast<float>(value));
            if (waiting.size() >= std::size_t{1} << 20 || row + 1 == rows) {
                device_.write(waiting, expected_.size() - waiting.size());
                waiting.clear();
            }
        }
    }

    const float* data() const { return device_.data(); }

    std::vector<float> row(std::size_t row) const {
        constexpr float inf = std::numeric_limits<float>::infinity();
        std::vector<float> values;
        for (const int drawn : random_.values(row * columns_, columns_))
            values.push_back(drawn % 16 == 0 || row % 64 == 62
                                 ? -inf
                                 : static_cast<float>(drawn) / 64 + 1000 * (static_cast<float>(row % 3) - 1));
        if (row % 64 == 63) values[row % columns_] = std::numeric_limits<float>::quiet_NaN();
        return values;
    }

    /// Compares all elements. The result is how many of them are within the bound.
    harness::Verification verify(const std::vector<float>& output, double bound) const {
        harness::Verification result{};
        result.expected = static_cast<std::int64_t>(expected_.size());
        for (std::size_t i = 0; i < expected_.size(); ++i) {
            if (is_near(output[i], expected_[i], bound)) {
                ++result.actual;
            } else if (result.wrong_places.size() < harness::most_wrong_places) {
                std::ostringstream place;
                place << "row " << harness::group_digits(std::uint64_t{i / columns_}) << ", column "
                      << harness::group_digits(std::uint64_t{i % columns_}) << ": expected " << expected_[i]
                      << ", got " << output[i];
                result.wrong_places.push_back(place.str());
            }
        }
        result.passed = result.actual == result.expected;
        return result;
    }

private:
    const harness::RandomInts& random_;
    std::size_t columns_;
    harness::DeviceBuffer<float> device_;
    std::vector<float> expected_;
};

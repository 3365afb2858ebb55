/// \file
/// The floats that lesson 23 sums, and their exact sum.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "harness/random_input.hpp"

/// Which floats: from 0 to 1, or large ones that cancel; and either of them times 2^-140.
struct FloatKind {
    bool cancel = false;
    bool tiny = false;
};

/// Element i of n. With `cancel`, element i is -2^37 to 2^37, and its mirror image, element n - 1 - i, takes
/// it away again but for a rest from 0 to 1. A large element takes its rest with it: it is rounded.
inline float float_element(FloatKind kind, std::uint64_t seed, std::size_t i, std::size_t n) {
    const auto from_0_to_1 = [](std::uint64_t bits) { return static_cast<float>(bits >> 11) * 0x1p-53f; };
    const std::size_t first = kind.cancel ? std::min(i, n - 1 - i) : i;
    float value = from_0_to_1(harness::random_bits(seed, first));
    if (kind.cancel && first != n - 1 - first) {
        const std::uint64_t bits = harness::random_bits(~seed, first);
        const float magnitude = std::ldexp(1 + from_0_to_1(bits), static_cast<int>(bits % 37));
        const float large = bits >> 10 & 1 ? -magnitude : magnitude;
        value = i == first ? large : value - large;
    }
    return kind.tiny ? std::ldexp(value, -140) : value;
}

inline std::vector<float> float_elements(FloatKind kind, std::uint64_t seed, std::size_t n) {
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = float_element(kind, seed, i, n);
    return values;
}

/// The exact sum of finite floats, at most 2^40 of them, in another way than the kernel's: a sum of mantissas
/// for each exponent, and then Shewchuk's expansion, a sum of doubles whose digits do not overlap.
class HostSum {
public:
    void add(float value) {
        std::uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        const std::uint32_t exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
        mantissas_[bits >> 31][exponent] += exponent > 0 ? fraction + 0x800000 : fraction;
    }

    /// The exact sum less `value`, rounded. Its sign is right, and it is 0 only if they are equal.
    double minus(double value) const { return difference(value, -1); }

    /// The sum of the absolute values, rounded.
    double magnitude() const { return difference(0, 1); }

    /// The nearest float, and the even one of two. The sum must not be too large for a float.
    float rounded() const {
        const auto near = static_cast<float>(minus(0));
        const double error = minus(near);
        if (error == 0) return near;
        const float beside = std::nextafter(near, error > 0 ? INFINITY : -INFINITY);
        const double beyond_middle = minus((double{near} + beside) / 2) * (error > 0 ? 1 : -1);
        if (beyond_middle == 0) {
            std::uint32_t bits;
            std::memcpy(&bits, &near, sizeof bits);
            return bits % 2 == 0 ? near : beside;
        }
        return beyond_middle > 0 ? beside : near;
    }

private:
    /// The positive elements, plus `sign` times the absolute values of the negative ones, less `value`.
    double difference(double value, int sign) const {
        std::vector<double> expansion{-value}; // from the lowest digits up
        const auto add = [&](double term) {
            std::size_t kept = 0;
            for (double part : expansion) {
                if (std::abs(term) < std::abs(part)) std::swap(term, part);
                const double sum = term + part, rest = part - (sum - term);
                if (rest != 0) expansion[kept++] = rest;
                term = sum;
            }
            expansion.resize(kept);
            expansion.push_back(term);
        };
        for (int exponent = 0; exponent < 255; ++exponent) {
            for (const bool negative : {false, true}) {
                const std::uint64_t mantissas = mantissas_[negative][exponent];
                const int shift = std::max(exponent, 1) - 150; // of a mantissa's last bit
                const double factor = negative ? sign : 1;
                add(factor * std::ldexp(static_cast<double>(mantissas >> 32), shift + 32));
                add(factor * std::ldexp(static_cast<double>(mantissas & 0xffffffff), shift));
            }
        }
        double sum = 0;
        for (const double part : expansion) sum += part;
        return sum;
    }

    std::array<std::array<std::uint64_t, 256>, 2> mantissas_ = {}; // of both signs
};

inline HostSum sum_on_host(const std::vector<float>& values) {
    HostSum sum;
    for (const float value : values) sum.add(value);
    return sum;
}

/// \file
/// The input of lesson 22 for each type and operation, and the check of a result against the obvious loop.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "frame.cuh"
#include "harness/detail/lesson_info.hpp"
#include "harness/device_buffer.hpp"
#include "harness/exit_status.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "harness/verification.hpp"

enum class Operation { sum, product, min, max, argmax, all, any, mean, variance };
inline const std::vector<const char*> operation_names{"sum", "product", "min",  "max",     "argmax",
                                                      "all", "any",     "mean", "variance"};
inline const std::vector<const char*> type_names{"int", "unsigned", "longlong", "float", "double", "half"};
inline const std::vector<const char*> type_plurals{"ints",   "unsigned ints", "long longs",
                                                   "floats", "doubles",       "halves"};

/// Calls `use` with a value of the type that --type names.
template <class Use> auto with_type(std::uint64_t type, const Use& use) {
    switch (type) {
    case 0: return use(int());
    case 1: return use(0u);
    case 2: return use(0ll);
    case 3: return use(float());
    case 4: return use(double());
    default: return use(__half());
    }
}

inline bool is_of_moments(Operation operation) {
    return operation == Operation::mean || operation == Operation::variance;
}

/// Refuses what no kernel is compiled for. \throws UsageError
inline void check_choice(harness::OptionValues& options) {
    const auto operation = static_cast<Operation>(options.at("--op"));
    const bool is_integer = options.at("--type") < 3;
    std::string right;
    if ((operation == Operation::all || operation == Operation::any) && options.at("--type") != 0)
        right = "int";
    if (is_of_moments(operation) && is_integer) right = "float, double or half";
    if (right.empty()) return;
    throw harness::UsageError(std::string("--type ") + type_names[options.at("--type")] + " with --op " +
                              operation_names[options.at("--op")] + ": no kernel is compiled for it. Write " +
                              "--type " + right + ".");
}

/// n random elements in device memory, `offset` elements into their allocation.
template <class T> class Input {
public:
    Input(Operation operation, std::uint64_t seed, std::size_t n, std::size_t offset)
        : operation_(operation), seed_(seed), n_(n), offset_(offset),
          device_(n > SIZE_MAX - offset ? SIZE_MAX : n + offset) {
        device_.poison();
        constexpr std::size_t chunk = std::size_t{1} << 21; // some MiB of host memory
        std::vector<T> part;
        for (std::size_t first = 0; first < n; first += chunk) {
            part.resize(std::min(chunk, n - first));
            for (std::size_t i = 0; i < part.size(); ++i) part[i] = (*this)[first + i];
            device_.write(part, offset + first);
        }
    }

    const T* data() const { return device_.data() + offset_; }
    std::size_t size() const { return n_; }
    Operation operation() const { return operation_; }

    T operator[](std::size_t i) const {
        int random = harness::random_int(seed_, i); // from -1000 to 1000, but never 0
        switch (operation_) {
        case Operation::min: random = std::abs(random); break;
        case Operation::max: // All below 0, or all above: an identity of 0 would be the result.
        case Operation::argmax: random = -std::abs(random); break;
        case Operation::all: return T(is_odd_one_out(i) ? 0 : random);
        case Operation::any: return T(is_odd_one_out(i) ? random : 0);
        case Operation::product: return factor(i, random);
        default: break;
        }
        if constexpr (std::is_same_v<T, long long>)
            return ((1ll << 52) + 1) * random; // too large for 32 bits, and for 53
        else if constexpr (std::is_integral_v<T>)
            return T(random);
        else
            return T((is_of_moments(operation_) ? shift : 0.0) + random / 1000.0);
    }

    /// The mean of the elements whose mean and variance are asked for.
    static constexpr double shift = std::is_same_v<T, double> ? 1 << 20 : 16;

private:
    /// One element, if the seed is even.
    bool is_odd_one_out(std::size_t i) const {
        return seed_ % 2 == 0 && i == (seed_ * 0x9E3779B97F4A7C15 >> 20) % n_;
    }

    /// Of integers an odd number: a product with an even one would soon be 0. Of the others 1 or -1, and up
    /// to 64 times 2 or 1/2: all products of them are exact and far from the type's limits.
    T factor(std::size_t i, int random) const {
        if constexpr (std::is_integral_v<T>) return T(2 * random + 1);
        const std::size_t distance = harness::ceil_div(n_, 64);
        const double size = i % distance != 0 ? 1 : i / distance % 4 == 0 ? 0.5 : 2;
        return T(random < 0 ? -size : size);
    }

    Operation operation_;
    std::uint64_t seed_;
    std::size_t n_, offset_;
    harness::DeviceBuffer<T> device_;
};

/// The most operations that lie between an element and the result, for reduce_any on this grid.
inline std::size_t most_operations(std::size_t n, std::size_t element_bytes, std::size_t grid,
                                   std::size_t block) {
    const std::size_t width = 16 / element_bytes;
    const std::size_t of_thread = width * harness::ceil_div(harness::ceil_div(n, width), grid * block) + 2;
    constexpr std::size_t of_accumulators = 3, of_block = 10; // twice five shuffles
    return of_thread + of_accumulators + of_block + harness::ceil_div(grid, block) + of_block;
}

template <class Number> std::string in_digits(Number number) {
    std::ostringstream text;
    text << std::setprecision(std::is_same_v<Number, double> ? 15 : 8) << number;
    return text.str();
}

/// \param bound the most that rounding can take the result from the exact one
template <class A>
harness::Verification compare_within(long double expected, long double actual, long double bound) {
    harness::Verification result{.passed = std::abs(actual - expected) <= bound,
                                 .wrong_places = {},
                                 .expected_text = in_digits(static_cast<A>(expected)),
                                 .actual_text = in_digits(static_cast<A>(actual))};
    if (!result.passed)
        result.wrong_places.push_back("off by " + in_digits(static_cast<float>(actual - expected)) +
                                      ", and rounding explains " + in_digits(static_cast<float>(bound)));
    return result;
}

/// 2^-24 or 2^-53: a rounded result is off by this part of it, or less.
template <class A> constexpr long double unit = std::numeric_limits<A>::epsilon() / 2;

/// The exact sum, times 2^scale. The elements are multiples of 2^-scale.
template <class T> __int128 exact_sum(const Input<T>& input, int scale) {
    __int128 sum = 0;
    for (std::size_t i = 0; i < input.size(); ++i)
        sum += std::llrint(std::ldexp(static_cast<double>(input[i]), scale));
    return sum;
}

/// Compares a kernel's result with the reference, which is computed once.
template <class Value> using Check = std::function<harness::Verification(Value)>;

/// Sum, product, min, max, all, any. The second parameter only says which value the operation has.
/// \param operations see most_operations
template <class T, class A> Check<A> make_check(const Input<T>& input, A, std::size_t operations) {
    const auto each = [&](auto result, auto take) {
        for (std::size_t i = 0; i < input.size(); ++i) take(result, static_cast<Accumulated<T>>(input[i]));
        return result;
    };
    const auto exactly = [](A expected) -> Check<A> {
        if constexpr (std::is_integral_v<A>)
            return [=](A actual) { return harness::compare_value(expected, actual); };
        else
            return [=](A actual) { return compare_within<A>(expected, actual, 0); };
    };
    const auto first = static_cast<A>(input[0]);
    switch (input.operation()) {
    case Operation::min: return exactly(each(first, [](A& a, auto b) { a = std::min<A>(a, b); }));
    case Operation::max: return exactly(each(first, [](A& a, auto b) { a = std::max<A>(a, b); }));
    case Operation::all: return exactly(each(A(1), [](A& a, auto b) { a = a != 0 && b != 0; }));
    case Operation::any: return exactly(each(A(0), [](A& a, auto b) { a = a != 0 || b != 0; }));
    default: break;
    }
    const bool is_product = input.operation() == Operation::product;
    if constexpr (std::is_integral_v<A>) { // 64 bits wrap around as 32 do, in their lower half
        return exactly(A(each(std::uint64_t{is_product}, [&](std::uint64_t& a, auto b) {
            a = is_product ? a * static_cast<std::uint64_t>(b) : a + static_cast<std::uint64_t>(b);
        })));
    } else {
        if (is_product) return exactly(each(A(1), [](A& a, auto b) { a *= b; })); // exact in any order
        const auto expected = std::ldexp(static_cast<long double>(exact_sum(input, 62)), -62);
        const auto sizes = each(0.0L, [](long double& a, auto b) { a += std::abs(b); });
        const long double part = static_cast<long double>(operations) * unit<A>;
        const long double bound = part / (1 - part) * sizes;
        return [=](A actual) { return compare_within<A>(expected, actual, bound); };
    }
}

template <class T, class A> Check<ValueAt<A>> make_check(const Input<T>& input, ValueAt<A>, std::size_t) {
    ValueAt<A> expected{static_cast<A>(input[0]), 0};
    for (std::size_t i = 1; i < input.size(); ++i)
        if (static_cast<A>(input[i]) > expected.value)
            expected = {static_cast<A>(input[i]), static_cast<long long>(i)};
    return [=](ValueAt<A> actual) -> harness::Verification {
        const auto text = [](ValueAt<A> found) {
            return in_digits(found.value) + " at " + std::to_string(found.index);
        };
        return {.passed = actual.value == expected.value && actual.index == expected.index,
                .wrong_places = {},
                .expected_text = text(expected),
                .actual_text = text(actual)};
    };
}

/// The page derives the bounds.
template <class T, class A>
Check<Moments<A>> make_check(const Input<T>& input, Moments<A>, std::size_t operations) {
    const auto n = static_cast<long double>(input.size());
    const long double mean = std::ldexp(static_cast<long double>(exact_sum(input, 42)), -42) / n;
    long double m2 = 0, least = mean, most = mean;
    for (std::size_t i = 0; i < input.size(); ++i) {
        const auto element = static_cast<long double>(static_cast<A>(input[i]));
        m2 += (element - mean) * (element - mean);
        least = std::min(least, element);
        most = std::max(most, element);
    }
    const auto h = static_cast<long double>(operations);
    const long double of_mean = h * unit<A> * (5 * (most - least) + std::max(most, -least));
    const long double weights = n / 2 * std::log2(n);
    const long double of_m2 =
        4 * of_mean * (std::sqrt(m2 * weights) + of_mean * weights) + (2 * h + 8) * unit<A> * m2;
    return [=, asks_mean = input.operation() == Operation::mean](Moments<A> actual) {
        const auto count = static_cast<long long>(n);
        if (actual.count != count) {
            harness::Verification wrong = harness::compare_value(count, actual.count);
            wrong.wrong_places.push_back("these are the numbers of elements");
            return wrong;
        }
        return asks_mean ? compare_within<A>(mean, actual.mean, of_mean)
                         : compare_within<A>(m2 / n, static_cast<long double>(actual.m2) / n, of_m2 / n);
    };
}

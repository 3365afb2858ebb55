#include "harness/verification.hpp"

#include "harness/device_buffer.hpp"
#include "harness/numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace harness {
namespace {

int poisoned_int() {
    int value = 0;
    std::memset(&value, poison_byte, sizeof value);
    return value;
}

/// Nine digits tell any two floats apart.
std::string format_float(float value) { return fmt::format("{:.9g}", value); }

} // namespace

std::string expected_text(const Verification& verification) {
    return verification.expected_text.empty() ? group_digits(verification.expected)
                                              : verification.expected_text;
}

std::string actual_text(const Verification& verification) {
    return verification.actual_text.empty() ? group_digits(verification.actual) : verification.actual_text;
}

Verification compare_value(std::int64_t expected, std::int64_t actual) {
    return {.passed = expected == actual, .expected = expected, .actual = actual, .wrong_places = {}};
}

Verification compare_float(float expected, float actual, double error, double bound) {
    Verification result{.passed = std::abs(error) <= bound, // false if the error is no number
                        .wrong_places = {},
                        .expected_text = format_float(expected),
                        .actual_text = format_float(actual)};
    if (!result.passed)
        result.wrong_places.push_back(
            fmt::format("off by {:.3g}, and the bound is {:.3g}", std::abs(error), bound));
    return result;
}

Verification compare_elements(const std::vector<int>& expected, const std::vector<int>& actual,
                              const char* element) {
    if (expected.size() != actual.size()) {
        Verification result = compare_value(static_cast<std::int64_t>(expected.size()),
                                            static_cast<std::int64_t>(actual.size()));
        result.wrong_places.push_back(
            fmt::format("expected {} {}s, got {}", expected.size(), element, actual.size()));
        return result;
    }
    Verification result{.passed = true, .expected = 0, .actual = 0, .wrong_places = {}};
    for (std::size_t i = 0; i < expected.size() && result.wrong_places.size() < most_wrong_places; ++i) {
        if (result.passed) {
            result.expected = expected[i];
            result.actual = actual[i];
        }
        if (expected[i] == actual[i]) continue;
        result.passed = false;
        result.wrong_places.push_back(fmt::format("{} {}: {}", element, group_digits(std::uint64_t{i}),
                                                  describe_difference(expected[i], actual[i])));
    }
    return result;
}

std::string describe_difference(int expected, int actual) {
    const auto beyond_poison = static_cast<unsigned int>(actual) - static_cast<unsigned int>(poisoned_int());
    const char* cause = "";
    if (beyond_poison == 0)
        cause = " (the poison put there before: it was never written)";
    else if (beyond_poison == static_cast<unsigned int>(expected))
        cause = " (the poison put there before, and the right value: it was added to without being set)";
    return fmt::format("expected {}, got {}{}", group_digits(std::int64_t{expected}),
                       group_digits(std::int64_t{actual}), cause);
}

} // namespace harness

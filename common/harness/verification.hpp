/// The comparison of a kernel's result with the reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace harness {

/// How many wrong places are reported.
inline constexpr std::size_t most_wrong_places = 4;

struct Verification {
    bool passed = false;
    /// The result; of several elements the first wrong one, or the last if all are right.
    std::int64_t expected = 0;
    std::int64_t actual = 0;               ///< what the kernel left in its place
    std::vector<std::string> wrong_places; ///< the first wrong places, one sentence each
    /// What reports show in place of `expected` and `actual`, for results that are no whole numbers.
    std::string expected_text = {}, actual_text = {};
};

/// The results as reports show them: "1,234", or the text.
std::string expected_text(const Verification& verification);
std::string actual_text(const Verification& verification);

/// Compares one value, such as a sum.
Verification compare_value(std::int64_t expected, std::int64_t actual);

/// Compares a sum of floats. \param expected the nearest float to the exact sum \param error how far `actual`
/// is from the exact sum \param bound the largest error that is right
Verification compare_float(float expected, float actual, double error, double bound);

/// Compares element by element. Different lengths are wrong. \param element what messages call one
Verification compare_elements(const std::vector<int>& expected, const std::vector<int>& actual,
                              const char* element = "element");

/// "expected 12, got -7", with a note if `actual` is the value of poisoned memory.
std::string describe_difference(int expected, int actual);

} // namespace harness

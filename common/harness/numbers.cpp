#include "harness/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace harness {
namespace {

constexpr const char* too_large = "more than 64 bits can hold";
constexpr const char* not_whole = "not a whole number";

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) throw std::invalid_argument(too_large);
    return a * b;
}

/// Removes and returns the leading digits of `text`.
std::uint64_t take_digits(std::string_view& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) throw std::invalid_argument(too_large);
    if (error != std::errc()) throw std::invalid_argument(not_whole);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
    if (base <= 1) return exponent == 0 ? 1 : base;
    std::uint64_t result = 1;
    while (exponent-- > 0) result = multiply(result, base); // overflows, and so ends, after at most 64 rounds
    return result;
}

std::uint64_t unit_value(std::string_view unit) {
    if (unit.empty()) return 1;
    if (unit.starts_with('.')) throw std::invalid_argument(not_whole);
    if (unit == "k") return 1'000;
    if (unit == "M") return 1'000'000;
    if (unit == "G") return 1'000'000'000;
    if (unit == "Ki") return std::uint64_t{1} << 10;
    if (unit == "Mi") return std::uint64_t{1} << 20;
    if (unit == "Gi") return std::uint64_t{1} << 30;
    throw std::invalid_argument(fmt::format("'{}' is no unit; these are: k, M, G, Ki, Mi, Gi", unit));
}

std::string insert_commas(std::string digits) {
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    for (std::size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, 1, ',');
    return digits;
}

} // namespace

std::uint64_t parse_whole_number(std::string_view text) {
    if (text.empty()) throw std::invalid_argument("empty");
    if (text.size() > 1 && text[0] == '-' && std::isdigit(static_cast<unsigned char>(text[1]))) {
        throw std::invalid_argument("negative");
    }
    const std::uint64_t value = take_digits(text);
    if (text.starts_with('^')) {
        text.remove_prefix(1);
        const std::uint64_t exponent = take_digits(text);
        if (!text.empty()) throw std::invalid_argument(fmt::format("'{}' follows the exponent", text));
        return power(value, exponent);
    }
    return multiply(value, unit_value(text));
}

std::string group_digits(std::int64_t value) { return insert_commas(fmt::to_string(value)); }

std::string group_digits(std::uint64_t value) { return insert_commas(fmt::to_string(value)); }

std::string format_bytes(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} bytes", bytes);
    double value = static_cast<double>(bytes) / 1024;
    const char* unit = "KiB";
    for (const char* larger : {"MiB", "GiB", "TiB", "PiB", "EiB"}) {
        if (value < 1024) break;
        value /= 1024;
        unit = larger;
    }
    return fmt::format("{:.1f} {}", value, unit);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    const auto same = [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    };
    std::vector<std::size_t> row(b.size() + 1); // from the current prefix of `a` to each prefix of `b`
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (same(a[i - 1], b[j - 1]) ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
    std::size_t least = 3; // that many edits are no typing error
    std::string nearest;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance > least || 3 * distance >= candidate.size()) continue;
        nearest = distance < least ? candidate : "";
        least = distance;
    }
    return nearest;
}

} // namespace harness

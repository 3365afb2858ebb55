/// What the command lines of `emulate` and of lessons share: CLI11's errors in our words, numbers as people
/// write them, and names with a typing error.
#pragma once

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulator {

/// Has `app` parse the words: argc and argv, or a vector from the last to the first.
/// \throws std::invalid_argument "--launch: needs a value"
template <class... Words> void parse_command_line(CLI::App& app, Words&&... words) {
    try {
        app.parse(std::forward<Words>(words)...);
    } catch (const CLI::ArgumentMismatch& error) {
        // Its text begins with the option's name: "--n: 1 required TEXT missing", "check was given a …".
        const std::string text = error.what();
        const std::string name =
            "--" + text.substr(0, text.find_first_of(": ")).substr(text.starts_with("--") ? 2 : 0);
        const CLI::Option* const option = app.get_option_no_throw(name);
        if (!option) throw std::invalid_argument(text);
        throw std::invalid_argument(
            name + (option->get_expected_max() > 0 ? ": needs a value" : ": takes no value"));
    } catch (const CLI::ParseError& error) {
        throw std::invalid_argument(error.what());
    }
}

namespace detail {

inline constexpr const char* too_large = "more than 64 bits can hold";
inline constexpr const char* not_whole = "not a whole number";

inline std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) throw std::invalid_argument(too_large);
    return a * b;
}

/// Removes and returns the leading digits of `text`.
inline std::uint64_t take_digits(std::string_view& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) throw std::invalid_argument(too_large);
    if (error != std::errc()) throw std::invalid_argument(not_whole);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

inline std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
    if (base <= 1) return exponent == 0 ? 1 : base;
    std::uint64_t result = 1;
    while (exponent-- > 0) result = multiply(result, base); // overflows, and so ends, after at most 64 rounds
    return result;
}

inline std::uint64_t unit_value(std::string_view unit) {
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

} // namespace detail

/// Reads a whole number, exactly: `1000`, `16M`, `1Gi`, `2^24`. k, M, G are powers of 1000; Ki, Mi, Gi of
/// 1024.
/// \throws std::invalid_argument with a few words on what is wrong: no number, a sign, an unknown unit, or
/// more than 64 bits
inline std::uint64_t parse_whole_number(std::string_view text) {
    if (text.empty()) throw std::invalid_argument("empty");
    if (text.size() > 1 && text[0] == '-' && std::isdigit(static_cast<unsigned char>(text[1]))) {
        throw std::invalid_argument("negative");
    }
    const std::uint64_t value = detail::take_digits(text);
    if (text.starts_with('^')) {
        text.remove_prefix(1);
        const std::uint64_t exponent = detail::take_digits(text);
        if (!text.empty()) throw std::invalid_argument(fmt::format("'{}' follows the exponent", text));
        return detail::power(value, exponent);
    }
    return detail::multiply(value, detail::unit_value(text));
}

/// The edit distance: how many letters to insert, delete or replace to turn `a` into `b`. Ignores case.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
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

/// The candidate that `word` was most probably meant to be: at most two edits away, most letters right, and
/// nearer than all others. An empty string if there is none.
inline std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
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

} // namespace emulator

#include "harness/numbers.hpp"

#include <fmt/format.h>

namespace harness {
namespace {

std::string insert_commas(std::string digits) {
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    for (std::size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, 1, ',');
    return digits;
}

} // namespace

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

} // namespace harness

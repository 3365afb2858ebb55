/// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace harness {

/// 4194304 -> "4,194,304"
std::string group_digits(std::int64_t value);
/// The same for unsigned values.
std::string group_digits(std::uint64_t value);

/// 16777216 -> "16.0 MiB"
std::string format_bytes(std::uint64_t bytes);

} // namespace harness

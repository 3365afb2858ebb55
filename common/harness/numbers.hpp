/// \file
/// Numbers as people write and read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace harness {

/// Reads a whole number, exactly: `1000`, `16M`, `1Gi`, `2^24`. k, M, G are powers of 1000; Ki, Mi, Gi of
/// 1024.
/// \throws std::invalid_argument with a few words on what is wrong: no number, a sign, an unknown unit, or
/// more than 64 bits
std::uint64_t parse_whole_number(std::string_view text);

/// 4194304 -> "4,194,304"
std::string group_digits(std::int64_t value);
/// The same for unsigned values.
std::string group_digits(std::uint64_t value);

/// 16777216 -> "16.0 MiB"
std::string format_bytes(std::uint64_t bytes);

/// The edit distance: how many letters to insert, delete or replace to turn `a` into `b`. Ignores case.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that `word` was most probably meant to be: at most two edits away, most letters right, and
/// nearer than all others. An empty string if there is none.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

} // namespace harness

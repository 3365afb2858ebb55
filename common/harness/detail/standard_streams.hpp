/// Output to a stdout that may be closed, full, or a pipe without a reader; and to files.
#pragma once

#include <filesystem>
#include <string_view>

namespace harness {

/// Call it first in a program. Opens /dev/null for a closed stdin or stderr, so that no file opened later
/// gets its descriptor. Writing to a pipe without a reader fails from here on, and raises no signal. \throws
/// OutputError if stdout is closed
void prepare_standard_streams();

/// Writes all of `text` to stdout.
/// \throws OutputError if stdout is closed, full or no longer read
void write_output(std::string_view text);

/// Writes one line to stderr: "lesson03: message".
void write_message(std::string_view program, std::string_view message);

/// Writes a file.
/// \throws OutputError
void write_file(const std::filesystem::path& path, std::string_view text);

} // namespace harness

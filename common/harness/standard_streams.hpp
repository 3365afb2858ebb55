/// \file
/// Standard output that may be closed, full, or a pipe that nobody reads.
#pragma once

#include <string_view>

namespace harness {

/// Call first in a program. A closed stdin or stderr becomes /dev/null, so that no file opened later takes
/// its number; a pipe that its reader closed becomes an error of the write and no signal.
/// \throws OutputError when stdout is closed
void prepare_standard_streams();

/// Writes all of `text` to stdout.
/// \throws OutputError when stdout is closed, full or no longer read
void write_output(std::string_view text);

/// Writes one line to stderr: "lesson03: message".
void write_message(std::string_view program, std::string_view message);

} // namespace harness

/// Errors that point into PTX text.
#pragma once

#include "emulator/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace emulator::ptx {

/// "line 12:" with the line that holds `offset` below it, and a caret under the place:
///
///     PTX line 12:
///         add.s32 %r1, %r2;
///             ^
std::string excerpt(std::string_view text, std::uint32_t offset);

/// 'text', in quotes, for messages.
std::string quoted(std::string_view text);

/// What to use instead of an unsupported opcode or type, as a message's next line; empty if there is nothing to say.
std::string what_instead(std::string_view word);

/// An Error whose message ends with the excerpt at `offset`.
Error error_at(Failure failure, std::string_view text, std::uint32_t offset, const std::string& message);

/// The error, with the function that it is about.
Error naming(const Error& error, const std::string& function);

} // namespace emulator::ptx

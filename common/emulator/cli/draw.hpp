/// \file
/// Writes pictures of a run to files (`emulate --draw`).
#pragma once

#include "emulator/cli/options.hpp"
#include "emulator/cli/report.hpp"
#include "emulator/cli/sources.hpp"

#include <string>

namespace emulate {

/// Draws what `options` ask for, one file per kernel. Returns the messages for the user.
/// \throws CommandError when a file cannot be written.
std::string draw(const Report& report, const Options& options, const ReadSource& read_source);

} // namespace emulate

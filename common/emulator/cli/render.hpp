/// \file
/// The report as the user asked for it.
#pragma once

#include "emulator/cli/options.hpp"
#include "emulator/cli/report.hpp"

#include <string>

namespace emulate {

/// Writes what the options ask for to where they want it. Nothing when they ask for nothing.
/// \throws CommandError when it cannot be written
void write_report(const Report& report, const Options& options);

/// Writes `text` to the file of --output, or to stderr.
/// \throws CommandError when it cannot be written
void write_text(const std::string& text, const Options& options);

} // namespace emulate

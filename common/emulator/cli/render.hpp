/// \file
/// The report as the user asked for it.
#pragma once

#include "emulator/cli/options.hpp"
#include "emulator/cli/report.hpp"

#include <string>

namespace emulate {

/// To be called before the program runs, which may take long. What is no folder yet, --draw will make.
/// \throws CommandError when --output cannot be written
void expect_writable_output(const Options& options);

/// Writes what the options ask for to where they want it. Nothing when they ask for nothing.
/// \throws CommandError when it cannot be written
void write_report(const Report& report, const Options& options);

/// Writes `text` to the file of --output, or to stderr.
/// \throws CommandError when it cannot be written
void write_text(const std::string& text, const Options& options);

} // namespace emulate

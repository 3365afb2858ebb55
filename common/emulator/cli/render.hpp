/// The report as the user asked for it.
#pragma once

#include "emulator/cli/options.hpp"
#include "emulator/cli/report.hpp"

#include <string>

namespace emulate {

/// Call it before the program runs, which may take long. For --export it also looks for what pages are made
/// of. A folder that --draw needs is made later. \throws CommandError when --output cannot be written, or a
/// page not be made
void expect_writable_output(const Options& options);

/// Writes what the options ask for, to the file or stream that they name.
/// \throws CommandError when it cannot be written
void write_report(const Report& report, const Options& options);

/// Writes `text` to the file of --output, or to stderr.
/// \throws CommandError when it cannot be written
void write_text(const std::string& text, const Options& options);

} // namespace emulate

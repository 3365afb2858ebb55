/// \file
/// The counters of launches as tables.
#pragma once

#include "emulator/cli/report.hpp"

#include <string>

namespace emulate {

/// A table for each launch; like ones that follow each other share theirs.
std::string counters_as_text(const Report& report);

/// A row for each launch and counter.
std::string counters_as_csv(const Report& report);

} // namespace emulate

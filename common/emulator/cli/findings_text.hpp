/// \file
/// What the checkers found, in words: `emulate --check`.
#pragma once

#include "emulator/cli/report.hpp"
#include "emulator/cli/sources.hpp"
#include "emulator/machine/finding.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace emulate {

/// For a terminal of so many columns. `checkers`: those that were asked; they are named if none found
/// anything.
std::string findings_as_text(const std::vector<emulator::Finding>& findings,
                             const std::vector<std::string>& checkers, const ReadSource& read_source,
                             std::size_t columns);

/// How a signal ended the program; with the kernel that ran, and where one of its threads was, if it took
/// long.
std::string signal_as_text(const Report& report, const ReadSource& read_source);

/// How many launches failed: what they did not do, no checker has seen. Empty if none did.
std::string failed_launches_as_text(const Report& report);

} // namespace emulate

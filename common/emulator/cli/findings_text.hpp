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

/// \param columns of the terminal
/// \param checkers that ran: they are named if none found anything
std::string findings_as_text(const std::vector<emulator::Finding>& findings,
                             const std::vector<std::string>& checkers, const ReadSource& read_source,
                             std::size_t columns, bool color = false);

/// Which signal ended the program, and which kernel was running. Names the line of one of its threads if the
/// launch took long.
std::string signal_as_text(const Report& report, const ReadSource& read_source);

/// How many launches failed, and so were not checked. Empty if none failed.
std::string failed_launches_as_text(const Report& report);

} // namespace emulate

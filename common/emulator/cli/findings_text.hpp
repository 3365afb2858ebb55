/// \file
/// What the checkers found, in words: `emulate --check`.
#pragma once

#include "emulator/cli/lines.hpp"
#include "emulator/observe/finding.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace emulate {

/// For a terminal of so many columns. `checkers`: those that were asked; they are named if none found
/// anything.
std::string findings_as_text(const std::vector<emulator::Finding>& findings,
                             const std::vector<std::string>& checkers, const ReadSource& read_source,
                             std::size_t columns);

} // namespace emulate

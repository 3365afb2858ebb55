/// \file
/// Runs the program on the emulator, once.
#pragma once

#include "emulator/cli/report.hpp"
#include "emulator/session/request.hpp"

#include <map>
#include <string>
#include <vector>

namespace emulate {

/// \param program and its arguments
/// \param descriptors as in Command
/// \return what the library has written, with the program's ending
/// \throws CommandError when the program cannot be run, or has the static CUDA runtime in it
Report run_on_emulator(const std::vector<std::string>& program, const emulator::Request& request,
                       const std::map<int, int>& descriptors = {});

/// Why there is nothing to report of a run; empty when there is something.
std::string why_nothing_was_observed(const Report& report);

} // namespace emulate

/// \file
/// The estimated times of a run's launches.
#pragma once

#include "emulator/cli/report.hpp"
#include "emulator/session/request.hpp"

#include <string>
#include <vector>

namespace emulate {

/// The cards that times can be estimated for: "h200" and others.
std::vector<std::string> known_cards();

/// Sets request.ptxas and request.nvdisasm. \throws CommandError that says how to install what is missing
void find_tools(emulator::Request& request);

std::string times_as_text(const Report& report);

} // namespace emulate

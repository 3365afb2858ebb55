/// The estimated times of a run's launches.
#pragma once

#include "emulator/cli/report.hpp"
#include "emulator/session/request.hpp"

#include <string>
#include <vector>

namespace emulate {

/// The cards that times can be estimated for: "h200" and others.
std::vector<std::string> known_cards();

/// Sets request.ptxas and request.nvdisasm: those that are found.
void find_tools(emulator::Request& request);

/// Says which of them is missing, and how to install it; empty: both are there.
std::string missing_tool(const emulator::Request& request);

std::string times_as_text(const Report& report);

} // namespace emulate

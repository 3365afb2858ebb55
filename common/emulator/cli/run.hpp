/// Runs the program on the emulator, once.
#pragma once

#include "emulator/cli/report.hpp"
#include "emulator/session/request.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace emulate {

/// \param program and its arguments
/// \param descriptors as in Command
/// \return the records that the library wrote, and how the program ended
/// \throws CommandError when the program cannot be run, or contains the static CUDA runtime
Report run_on_emulator(const std::vector<std::string>& program, const emulator::Request& request,
                       const std::map<int, int>& descriptors = {});

/// Writes the PTX file with tagged numbers to `to`: see with_tagged_numbers. \throws CommandError
void write_tagged_ptx(const std::string& ptx, std::uint64_t seed, const std::filesystem::path& to);

/// Why a run left nothing to report. Empty if it left something.
std::string why_nothing_was_observed(const Report& report);

} // namespace emulate

/// Options that observe a lesson's kernels: with one of them the lesson runs under `emulate`
/// (common/emulator/cli).
#pragma once

#include <string>
#include <vector>

namespace harness {

/// Their part of --help.
const char* observing_help();

/// Replaces this process by `emulate`, which judges the options, runs this program again and observes it.
/// \param lesson the name for errors \param arguments of this program then \param name argv[0]
/// \throws DeviceError if `emulate` cannot be started
[[noreturn]] void become_emulate(const std::string& lesson, const std::vector<std::string>& options,
                                 const std::vector<std::string>& arguments, const char* name);

/// Whether `emulate` has started this process. It reports long-running kernels itself.
bool is_observed();

/// Whether it estimates launches in place of running them: memory is not to be filled then, and nothing verified.
bool only_estimates();

/// What this program prints with these arguments under `emulate --time-only`. Empty if that fails.
/// \param asked takes up to 5 seconds of one core, not what it has after a second; builds `emulate` if need be, and says
/// on stderr what it lacks
/// \throws DeviceError if `emulate` cannot be built
std::string estimates_as_json(const std::vector<std::string>& arguments, bool asked);

} // namespace harness

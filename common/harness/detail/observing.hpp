/// \file
/// Options that observe a lesson's kernels: with one of them the lesson runs under `emulate`
/// (common/emulator/cli).
#pragma once

#include <string>
#include <vector>

namespace harness {

/// Their values on the command line, as text.
struct ObservingOptions {
    bool lines = false;
    std::vector<std::string> check;              ///< each a list of checkers; an empty one means all
    std::string draw, line, schedule, schedules; ///< empty if not given
};

/// Their names on the command line.
const std::vector<std::string>& observing_option_names();

/// Their part of --help.
const char* observing_help();

/// The options for `emulate`; none if there is nothing to observe. \param json whether it reports in JSON
/// \throws UsageError
std::vector<std::string> emulate_options(const ObservingOptions& options, bool json);

/// A lesson's arguments without these options. With a checker or another schedule --verify is added: counters
/// of another schedule are not those of the pages.
std::vector<std::string> without_observing_options(const char* const* arguments);

/// Replaces this process by `emulate`, which runs this program again and observes it.
/// \param argv that of main
/// \throws DeviceError if `emulate` cannot be started
[[noreturn]] void become_emulate(const std::vector<std::string>& options, char** argv);

/// Whether `emulate` has started this process. It reports long-running kernels itself.
bool is_observed();

} // namespace harness

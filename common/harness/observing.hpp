/// \file
/// The options that show a lesson's kernels at work: the lesson hands itself to `emulate`
/// (common/emulator/cli) with them.
#pragma once

#include <string>
#include <vector>

namespace harness {

/// What the command line says of them, as text.
struct ObservingOptions {
    bool lines = false;
    std::vector<std::string>
        check; ///< a list of checkers each; an empty one: verify only, nothing to observe
    std::string draw, line, schedule, schedules; ///< empty: not given
};

/// Their names.
const std::vector<std::string>& observing_option_names();

/// What --help says of them.
const char* observing_help();

/// The options for `emulate`. None: there is nothing to observe. \param json whether it should report in JSON
/// \throws UsageError
std::vector<std::string> emulate_options(const ObservingOptions& options, bool json);

/// A lesson's arguments without its observing options. Where it is to be checked, or run in another order, it
/// verifies only: counters of another order are not those of the pages.
std::vector<std::string> without_observing_options(const char* const* arguments);

/// Becomes `emulate` with these options, and this program with its arguments as what is observed.
/// \param argv main's own
/// \throws DeviceError when that cannot be
[[noreturn]] void become_emulate(const std::vector<std::string>& options, char** argv);

/// Whether `emulate` has started this process. Then the emulator itself tells of kernels that take long.
bool is_observed();

} // namespace harness

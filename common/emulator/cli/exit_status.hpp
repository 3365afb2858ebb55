/// The exit statuses of `emulate`, and the exceptions that lead to them. If it can, it passes on its
/// program's own.
#pragma once

#include "emulator/text.hpp"

#include <stdexcept>
#include <string>

namespace emulate {

/// As in env, nohup and timeout: programs seldom use numbers that high.
enum class ExitStatus : int {
    asked_wrong = 2, ///< the command line of the program that --asked-by names is wrong
    finding = 10,    ///< --check or --schedules found something; --error-exitcode names another
    failed = 125,    ///< the command line is wrong, the report cannot be written, or no CUDA was seen
    not_runnable = 126,
    not_found = 127,
};

/// The message says what is wrong and what would be right.
class CommandError : public std::runtime_error {
public:
    CommandError(ExitStatus status, const std::string& message)
        : std::runtime_error(message), status_(status) {}

    ExitStatus status() const { return status_; }

private:
    ExitStatus status_;
};

/// The command line is wrong.
class UsageError : public CommandError {
public:
    explicit UsageError(const std::string& message)
        : CommandError(ExitStatus::failed, emulator::printable(message)) {}
};

} // namespace emulate

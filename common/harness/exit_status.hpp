/// A lesson's exit statuses, and the exceptions that lead to them. Helpers throw; only Lesson::run turns
/// exceptions into a status.
#pragma once

#include <stdexcept>

namespace harness {

/// The exit status of a lesson.
enum class ExitStatus : int {
    verified = 0,     ///< every kernel's result was right
    wrong_result = 1, ///< at least one result was wrong
    usage = 2,        ///< the command line was wrong, or its output could not be written
    device = 3,       ///< the device could not run it
};

/// The command line was wrong. The message says what was wrong and what would be right.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device could not run it. The message contains the CUDA error's name.
class DeviceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device lacks a feature that one kernel needs. The lesson's other kernels still run.
class UnsupportedKernel : public DeviceError {
public:
    using DeviceError::DeviceError;
};

/// Standard output was closed or full.
class OutputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace harness

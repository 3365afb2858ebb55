/// \file
/// How a lesson's program ends, and the exceptions that say so. Helpers throw; only Lesson::run turns them
/// into a status.
#pragma once

#include <stdexcept>

namespace harness {

/// What the shell sees.
enum class ExitStatus : int {
    verified = 0,     ///< every kernel gave the right result
    wrong_result = 1, ///< at least one did not
    usage = 2,        ///< the command line was wrong, or its output could not be written
    device = 3,       ///< the device could not do it
};

/// The command line was wrong. The message says what was wrong and what would be right.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device could not do it. The message holds the CUDA error's name.
class DeviceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device lacks what one kernel needs. The lesson's other kernels can still run.
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

/// The emulator's only exception, for errors of the program and for what the emulator does not support.
#pragma once

#include <stdexcept>
#include <string>

namespace emulator {

/// Why a module, a launch or a kernel failed. The runtime maps each to the CUDA error of the same meaning.
enum class Failure {
    invalid_ptx,           ///< the text is not PTX, or contradicts itself
    unsupported,           ///< correct PTX that this emulator does not support
    unknown_symbol,        ///< no kernel or variable of that name in the module
    invalid_configuration, ///< a grid, block or shared-memory size that no device accepts
    invalid_cluster,       ///< clusters that the grid, the kernel or the device does not accept
    out_of_memory,
    illegal_address,
    misaligned_address,
    assertion,      ///< a device-side assert() failed
    trapped,        ///< the kernel executed `trap`
    launch_failure, ///< anything else that ends a kernel early, such as a barrier that can never complete
};

/// `what()` is a complete message of one or more lines, without a final newline: what happened, where, and
/// what is right instead.
class Error : public std::runtime_error {
public:
    Error(Failure failure, const std::string& message) : std::runtime_error(message), failure_(failure) {}

    Failure failure() const { return failure_; }

private:
    Failure failure_;
};

} // namespace emulator

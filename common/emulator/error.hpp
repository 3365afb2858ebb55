/// \file
/// The one exception that the emulator throws for what a program did wrong or what the emulator cannot do.
#pragma once

#include <stdexcept>
#include <string>

namespace emulator {

/// Why a module, a launch or a kernel failed. The runtime maps each to the CUDA error of the same meaning.
enum class Failure {
    invalid_ptx,           ///< the text is not PTX, or contradicts itself
    unsupported,           ///< correct PTX that this emulator does not interpret
    unknown_symbol,        ///< no kernel or variable of that name in the module
    invalid_configuration, ///< a grid, block or shared-memory size that no device accepts
    invalid_cluster,       ///< clusters that the grid, the kernel or the device does not accept
    out_of_memory,
    illegal_address,
    misaligned_address,
    assertion,      ///< a device-side assert() failed
    trapped,        ///< the kernel executed `trap`
    launch_failure, ///< anything else that ends a kernel early, for example a barrier that can never complete
};

/// `what()` is a complete message of one or more lines, without a final newline: what happened, where, and
/// what would be right.
class Error : public std::runtime_error {
public:
    Error(Failure failure, const std::string& message) : std::runtime_error(message), failure_(failure) {}

    Failure failure() const { return failure_; }

private:
    Failure failure_;
};

} // namespace emulator

/// \file
/// What went wrong inside a kernel, before it is known where: the block completes it to an Error.
#pragma once

#include "emulator/error.hpp"
#include "emulator/machine/lanes.hpp"

#include <string>

namespace emulator {

struct Instruction;

/// Thrown by handlers.
struct Fault {
    Failure failure = Failure::launch_failure;
    int lane = 0; ///< the first lane concerned
    const Instruction* instruction = nullptr;
    std::string message;
};

} // namespace emulator

/// \file
/// Functions that a kernel calls and the device's system provides: vprintf and __assertfail.
#pragma once

#include "emulator/machine/code.hpp"

#include <string_view>

namespace emulator {

/// The handler of a call to the system's function `name`, or null. The call's arguments are those of any
/// call: see Detail.
Handler builtin(std::string_view name);

} // namespace emulator

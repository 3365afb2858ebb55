/// \file
/// Functions that a kernel calls and the device's system provides: vprintf, __assertfail, malloc and free.
#pragma once

#include "emulator/program/code.hpp"

#include <cstddef>
#include <string_view>

namespace emulator {

/// The handler of a call to the system's function `name`, or null. The call's arguments are those of any
/// call: see Detail.
Handler builtin(std::string_view name);

/// How many arguments that function takes.
std::size_t builtin_arguments(std::string_view name);

} // namespace emulator

/// \file
/// Functions that CUDA provides to kernels: vprintf, __assertfail, malloc and free.
#pragma once

#include "emulator/program/code.hpp"

#include <cstddef>
#include <string_view>

namespace emulator {

/// The handler of a call to the function `name`, or null. Its arguments are in the CallDetail.
Handler builtin(std::string_view name);

/// How many arguments that function takes.
std::size_t builtin_arguments(std::string_view name);

} // namespace emulator

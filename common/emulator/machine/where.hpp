/// \file
/// Places in programs, for messages.
#pragma once

#include "emulator/machine/code.hpp"

#include <string>

namespace emulator {

/// The CUDA source line of an instruction, "kernels.cuh:14": the outermost one, when it comes from an inlined
/// function. Empty when the program was compiled without -lineinfo.
std::string source_line(const Code& code, std::uint32_t pc);

/// The line of PTX with a caret under the instruction.
std::string ptx_line(const Code& code, std::uint32_t pc);

/// "reduce3(int const*, int*, unsigned long)"
std::string readable_name(const std::string& mangled);

} // namespace emulator

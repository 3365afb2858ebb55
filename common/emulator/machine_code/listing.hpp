/// \file
/// Reads what ptxas and nvdisasm print.
#pragma once

#include "emulator/machine_code/instruction.hpp"

#include <string_view>

namespace emulator::machine_code {

/// The code of the kernel `name` (mangled), decoded.
/// \param listing that of `nvdisasm --print-instruction-encoding`, below that of `ptxas
/// --verbose`
/// \throws NotUnderstood for an instruction that has no action, with its opcode
Code read_listing(std::string_view listing, std::string_view name);

} // namespace emulator::machine_code

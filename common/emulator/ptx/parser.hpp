/// \file
/// Tokens to a module.
#pragma once

#include "emulator/ptx/module.hpp"

#include <memory>
#include <string>

namespace emulator::ptx {

/// Parses the PTX of one translation unit, or that of several behind each other, which makes one module of
/// them: an external declaration in one unit is the definition in another. (nvcc gives what is static in a
/// unit a name that no other has.) Opcodes and their modifiers are taken as they come: the decoder knows
/// them. \throws Error invalid_ptx with line and caret; unsupported for a directive that this emulator does
/// not know.
std::unique_ptr<Module> parse(std::string text);

} // namespace emulator::ptx

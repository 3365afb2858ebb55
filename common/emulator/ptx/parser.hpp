/// \file
/// Tokens to a module.
#pragma once

#include "emulator/ptx/module.hpp"

#include <memory>
#include <string>

namespace emulator::ptx {

/// Parses the PTX of one translation unit, or that of several in a row, which become one module: an external
/// declaration in one unit is the definition in another. (nvcc gives a unit's static names a unique suffix.)
/// Accepts any opcode and modifier: the decoder checks them. \throws Error invalid_ptx with line and caret;
/// unsupported for an unknown directive.
std::unique_ptr<Module> parse(std::string text);

} // namespace emulator::ptx

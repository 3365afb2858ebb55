/// \file
/// Tokens to a module.
#pragma once

#include "emulator/ptx/module.hpp"

#include <memory>
#include <string>

namespace emulator::ptx {

/// Parses one PTX module. Opcodes and their modifiers are taken as they come: the decoder knows them.
/// \throws Error invalid_ptx with line and caret; unsupported for a directive that this emulator does not
/// know.
std::unique_ptr<Module> parse(std::string text);

} // namespace emulator::ptx

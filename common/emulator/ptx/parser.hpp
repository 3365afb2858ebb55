/// Tokens to a module.
#pragma once

#include "emulator/ptx/module.hpp"

#include <memory>
#include <string>

namespace emulator::ptx {

struct Source;

/// Parses the PTX of one translation unit, or that of several in a row, which become one module: an external
/// declaration in one unit is the definition in another. (nvcc gives a unit's static names a unique suffix.)
/// Accepts any opcode and modifier: the decoder checks them. \throws Error invalid_ptx with line and caret;
/// unsupported for an unknown directive.
std::unique_ptr<Module> parse(std::string text);

/// The same, but the kernels' bodies are left to read_body: a program launches few of the kernels that its
/// libraries bring. Skips directives that the emulator does not support, and notes what they name.
std::unique_ptr<Module> parse_around_kernels(std::string text);

/// Reads the body of one of the module's kernels, if it was not read yet. \throws as parse
void read_body(Module& module, Function& kernel);

/// Reads one function, from `.entry` or `.func` on, into the source's module: its parameters, and the statements
/// of its body.
void parse_function(Source& source);

} // namespace emulator::ptx

/// \file
/// Functions: their parameters, and the statements of their bodies.
#pragma once

#include "emulator/ptx/token_reader.hpp"

namespace emulator::ptx {

/// Reads one function, from `.entry` or `.func` on, into the source's module.
void parse_function(Source& source);

} // namespace emulator::ptx

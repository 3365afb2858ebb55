/// \file
/// The forms of add, sub and mad that set the condition code.
#pragma once

#include "emulator/program/decoder.hpp"

namespace emulator {

/// Decodes an add, sub or mad if it has `.cc`. Returns whether it does.
bool decode_carry(Decoding& statement);

} // namespace emulator

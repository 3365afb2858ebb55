/// \file
/// What control.cpp needs from the warp-level instructions.
#pragma once

#include "emulator/program/decoder.hpp"

namespace emulator {

/// `bar.warp.sync`, after its modifiers.
void decode_warp_barrier(Decoding& statement);

} // namespace emulator

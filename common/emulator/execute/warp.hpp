/// \file
/// What others need to know of the warp-level instructions.
#pragma once

#include "emulator/ptx/decoder.hpp"

namespace emulator {

/// `bar.warp.sync`, after its modifiers.
void decode_warp_barrier(ptx::Decoding& statement);

/// A warp barrier exchanges nothing: its members may come to it at different places in the program.
bool is_warp_barrier(const Instruction& instruction);

} // namespace emulator

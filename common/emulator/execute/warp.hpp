/// \file
/// What others need to know of the warp-level instructions.
#pragma once

#include "emulator/ptx/decoder.hpp"

namespace emulator {

/// `bar.warp.sync`, after its modifiers.
void decode_warp_barrier(ptx::Decoding& statement);

/// The lane whose value a shuffle gives to `lane`, or -1: it keeps its own, or this is no shuffle.
int shuffle_source(const Warp& warp, const Instruction& instruction, int lane);

/// A warp barrier exchanges nothing: its members may come to it at different places in the program.
bool is_warp_barrier(const Instruction& instruction);

} // namespace emulator

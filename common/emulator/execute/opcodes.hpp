/// \file
/// The instructions that the emulator executes. Each family is a table in the file of its name.
#pragma once

#include "emulator/program/decoder.hpp"

#include <span>

namespace emulator {

/// The handler of instructions without an effect here: cache hints, and waits for what is already done.
inline void no_effect(Warp&, const Instruction&, LaneMask) {}

/// All families, for the decoder.
const OpcodeTable& all_opcodes();

std::span<const Opcode> integer_opcodes();
std::span<const Opcode> floating_point_opcodes();
std::span<const Opcode> logic_opcodes();
std::span<const Opcode> compare_opcodes();
std::span<const Opcode> convert_opcodes();
std::span<const Opcode> memory_opcodes();
std::span<const Opcode> atomic_opcodes();
std::span<const Opcode> warp_opcodes();
std::span<const Opcode> control_opcodes();
std::span<const Opcode> carry_opcodes();
std::span<const Opcode> video_opcodes();
std::span<const Opcode> async_copy_opcodes();
std::span<const Opcode> mbarrier_opcodes();

} // namespace emulator

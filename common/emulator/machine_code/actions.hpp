/// What each opcode does. To understand another one: write how its operands make its action, in the file of
/// its family, and add it to the table there with all modifiers that it accepts.
#pragma once

#include "emulator/machine_code/instruction.hpp"

#include <span>
#include <string_view>

namespace emulator::machine_code {

/// A row of a family's table.
struct Opcode {
    std::string_view base;
    std::string_view modifiers; ///< those that are understood, with a blank before and after each
    Action (*action)(const Instruction&);
};

std::span<const Opcode> integer_opcodes();
std::span<const Opcode> floating_point_opcodes();
std::span<const Opcode> half_precision_opcodes();
std::span<const Opcode> memory_opcodes();
std::span<const Opcode> warp_opcodes();

/// What to throw where an instruction, or a form of it, is not known.
NotUnderstood unknown(const Instruction& instruction);

Action no_effect(const Instruction& instruction);

/// Of a memory access, per lane.
std::uint32_t bytes_of(const Instruction& instruction);

/// Sets the instruction's action, or its flow. \throws NotUnderstood with its opcode
void decode(Instruction& instruction);

} // namespace emulator::machine_code

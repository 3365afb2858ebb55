/// The instructions that the emulator executes. Each family is a table in the file of its name.
#pragma once

#include "emulator/program/decoder.hpp"

#include <span>

namespace emulator {

/// The handler of instructions without an effect here: cache hints, and waits for what is already done.
inline void no_effect(Warp&, const Instruction&, LaneMask) {}

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

/// All families, for the decoder.
inline const OpcodeTable& all_opcodes() {
    static const OpcodeTable table = [] {
        OpcodeTable result;
        for (const auto family :
             {integer_opcodes(), floating_point_opcodes(), logic_opcodes(), compare_opcodes(),
              convert_opcodes(), memory_opcodes(), atomic_opcodes(), warp_opcodes(), control_opcodes(),
              carry_opcodes(), video_opcodes(), async_copy_opcodes(), mbarrier_opcodes()})
            for (const Opcode& opcode : family) result.emplace(opcode.name, opcode.decode);
        return result;
    }();
    return table;
}

} // namespace emulator

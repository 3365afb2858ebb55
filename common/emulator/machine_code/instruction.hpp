/// Machine code of sm_90, as nvdisasm lists it.
#pragma once

#include "emulator/program/lanes.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace emulator::machine_code {

/// Machine code that is not understood, or does what is not: `what()` names it.
struct NotUnderstood : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline constexpr std::uint8_t zero_register = 255, zero_uniform_register = 63, true_predicate = 7;

struct Operand {
    enum class Kind : std::uint8_t {
        reg,               ///< `R4`, `RZ`
        uniform,           ///< `UR4`, `URZ`
        predicate,         ///< `P0`, `PT`
        uniform_predicate, ///< `UP0`, `UPT`
        immediate,         ///< `0x1f`, `1.5`
        constant,          ///< `c[0x0][0x210]`
        address,           ///< `[R4+UR5+0x10]`, `desc[UR6][R4.64]`
        label,             ///< `(.L_x_5)`: an index in the code
        barrier,           ///< `B0`
        name,              ///< `SR_TID.X`, `PR`
    };
    Kind kind = Kind::name;
    bool negated = false;               ///< `-R4`
    bool inverted = false;              ///< `~R4`, `!P0`
    bool absolute = false;              ///< `|R4|`
    bool wide_base = false;             ///< of an address: 64 bits of the register, `R4.64`
    bool high_half = false;             ///< `R4.H1_H1`
    std::uint8_t shift = 0;             ///< where its byte or half begins: 24 in `R4.B3`
    std::uint8_t index = zero_register; ///< of the register; of an address its base; of a constant its bank
    std::uint8_t uniform =
        zero_uniform_register; ///< of an address or a constant: the uniform register that is added
    std::uint8_t index_register = zero_register; ///< of a constant: the register in its offset
    std::uint64_t bits = 0;                      ///< immediate; offset of an address or a constant; label
    std::string text{};
};

/// How the hardware schedules an instruction: the bits that its assembler chose.
struct Control {
    std::uint8_t stall = 0;
    bool yields = false; ///< the warp, to others
    std::uint8_t write_scoreboard = 7, read_scoreboard = 7, waits = 0;
};

class Warp;
struct Instruction;

/// What an instruction does to the registers and the memory of a warp, for some lanes.
using Action = std::function<void(Warp&, LaneMask)>;

/// Instructions that decide where a warp goes on: the interpreter's own.
enum class Flow : std::uint8_t {
    next,
    branch,                  ///< BRA
    branch_unless_converged, ///< BRA.DIV
    branch_by_register,      ///< BRX
    call,
    call_return,
    exit,
    set_barrier,   ///< BSSY
    wait_barrier,  ///< BSYNC
    leave_barrier, ///< BREAK
    move_barrier,  ///< BMOV
    sync_warp,     ///< WARPSYNC
    sync_block,    ///< BAR.SYNC, BAR.RED
};

struct Instruction {
    std::string base;                   ///< "IMAD"
    std::vector<std::string> modifiers; ///< "WIDE", "U32"
    bool guarded = false;
    Operand guard{};
    std::vector<Operand> operands;
    Control control{};
    Flow flow = Flow::next;
    Action action{};
    std::uint32_t line = 0; ///< of the PTX that it is made of; 0: not known
    std::string text;       ///< "IMAD.WIDE.U32 R4, R9, UR8, R2", without the guard

    bool has(std::string_view modifier) const {
        for (const std::string& own : modifiers)
            if (own == modifier) return true;
        return false;
    }
    /// "IMAD.WIDE.U32"
    std::string opcode() const { return text.substr(0, text.find(' ')); }
};

/// What the listing says of constant memory beside the parameters.
struct Constants {
    std::vector<std::uint8_t> literals;             ///< bank 2: the compiler's own
    std::map<std::uint64_t, std::string> variables; ///< bank 3: `__constant__`, by their offsets
    std::map<std::uint64_t, std::string> addresses; ///< bank 4: those of the variables, by offset
};

/// A kernel's machine code.
struct Code {
    std::vector<Instruction> instructions;
    std::uint32_t registers = 0; ///< per thread
    Constants constants{};
};

inline constexpr std::uint32_t instruction_bytes = 16;

} // namespace emulator::machine_code

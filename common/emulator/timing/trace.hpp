/// What the clock is fed with: code, as far as its time depends on it, and which of it each warp executes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace emulator::timing {

/// What an instruction is issued to.
enum class Unit : std::uint8_t {
    none,      ///< issued, and nothing more
    alu,       ///< integers, logic, comparisons
    fma,       ///< single precision
    fma_heavy, ///< integer multiplications, and VIADD: half of the pipe
    fma_wide,  ///< their 64-bit products
    fp64,
    xu,      ///< conversions, reciprocals, bit counts
    uniform, ///< the uniform datapath
    adu,     ///< special registers, constants by address, barriers
    branch,
    shared, ///< shared memory, shuffles and fences: the data pipe
    global, ///< global memory: the same pipe, L1, L2 and memory
};
inline constexpr std::size_t unit_count = 12;

/// What an instruction does beyond occupying its unit.
enum class Effect : std::uint8_t {
    none,
    load,
    store,
    atomic,
    shared,
    shared_atomic,
    fence, ///< beyond the block
    branch,
    jump, ///< to a function, back from it, or to where a register says
    meet, ///< lanes that went different ways, or may have
    barrier,
    exit
};

inline constexpr std::uint8_t no_scoreboard = 7;

/// An instruction, as its control word and its opcode tell.
struct Instruction {
    Unit unit = Unit::none;
    Effect effect = Effect::none;
    std::uint8_t latency = 0;                      ///< which of a card's latencies: an index into Latency
    std::uint8_t stall = 1;                        ///< cycles until the warp's next instruction
    std::uint8_t write_scoreboard = no_scoreboard; ///< that its result releases
    std::uint8_t read_scoreboard = no_scoreboard;  ///< that the reading of its operands releases
    std::uint8_t waits = 0;                        ///< scoreboards that it waits for, one bit each
    std::uint8_t bytes = 4;                        ///< per lane, of a memory access
    bool goes_first = false;                       ///< its warp, from then on
    std::uint8_t operands = 1;                     ///< registers of each lane that an access reads
    std::uint32_t line = 0;        ///< that it counts on; 0: on that of what the warp has executed before it
    std::uint8_t constants = 0;    ///< the line of 64 bytes of constant memory that it needs, from 1 on
    std::uint32_t hot_sectors = 0; ///< of a store: to so few do many blocks store; 0: each block has its own
};

/// Whether it goes through the data pipe.
inline bool is_access(const Instruction& instruction) {
    return instruction.unit == Unit::shared || instruction.unit == Unit::global;
}

/// Variable latencies of a card, which scoreboards guard.
enum class Latency : std::uint8_t {
    other,
    special_register,
    constant,
    xu,
    shuffle,
    shared_load,
    redux,
    match
};
inline constexpr std::size_t latency_count = 8;

/// One instruction that a warp executes.
struct Step {
    std::uint32_t instruction = 0; ///< index in the code
    std::uint8_t lanes = 0;        ///< that execute it; 0: the guard was false for all
    std::uint8_t passes = 0;       ///< of the data pipe, conflicts included
    std::uint8_t conflicts = 0;    ///< those of them that other addresses would not need
    std::uint8_t sectors = 0;      ///< of global memory that the request touches
    std::uint8_t lines = 0;        ///< of 128 bytes, that these sectors are in
    std::uint8_t partial = 0;      ///< sectors of a store that it leaves some bytes of
    std::uint8_t misses = 0; ///< sectors that its block had not touched before; of a store, not stored to
    std::uint8_t in_l2 = 0;  ///< those of the misses that an earlier access has fetched from memory
    std::uint8_t reused = 0; ///< how often, of 255, another block has brought all of them to the L2
    std::uint8_t same =
        0; ///< lanes of an atomic with the most popular word; turns of LDC and MATCH, one for each value
    /// Where the first of these lines is in its allocation, modulo 65,536 lines.
    std::uint16_t first_line = 0;
    bool is_scattered = false; ///< its sectors are at random places
    bool taken = false;        ///< a branch that jumps
};

using WarpTrace = std::vector<Step>;
using BlockTrace = std::vector<WarpTrace>;

} // namespace emulator::timing

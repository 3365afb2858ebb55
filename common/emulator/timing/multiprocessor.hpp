/// One multiprocessor, cycle by cycle: the model behind an estimate.
#pragma once

#include "emulator/timing/card.hpp"
#include "emulator/timing/trace.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace emulator::timing {

/// What a warp waits for, in the profiler's terms.
enum class Wait : std::uint8_t {
    selected, ///< it issues
    not_selected,
    wait, ///< the stall that its instruction asks for
    branch_resolving,
    math_pipe_throttle,
    mio_throttle, ///< the data pipe's queue is full
    lg_throttle,  ///< stores and atomics on global memory have to wait
    drain,        ///< it has ended, but not its stores
    short_scoreboard,
    long_scoreboard,
    barrier,
    imc_miss,       ///< a line of constants is not there yet
    membar,         ///< a fence
    dispatch_stall, ///< behind a 64-bit product
};
inline constexpr std::size_t wait_count = 14;
std::string_view wait_name(Wait wait); ///< "long_scoreboard"

/// The blocks that a multiprocessor gets.
struct Shift {
    std::span<const Instruction> code;
    std::span<const BlockTrace* const> blocks; ///< in the order of their start
    std::uint32_t resident = 1;                ///< how many at once
    double busy_multiprocessors = 0;           ///< of the card: they share its memory and its block starts
    double atomic_sectors = 1;                 ///< of global memory, that all atomics of the launch go to
    bool adds_floats = false;                  ///< some of its atomics do
    double store_cost = 1;                     ///< of what is stored, against a copy in order
    double recorded_cycles = 0;                ///< so many of the first ones, in the times' rows
};

/// What a warp does from one cycle to another.
struct WarpRun {
    Wait state = Wait::selected;
    double from = 0, to = 0;
};

/// A warp's load from global memory, under way from one cycle to another.
struct WarpLoad {
    double from = 0, to = 0;
    std::uint32_t bytes = 0; ///< that come from memory or the L2
};

/// A warp, and all that it does until it ends, or the record.
struct WarpRow {
    std::uint32_t block = 0; ///< in the order of their start
    std::uint32_t place = 0; ///< of the resident ones; another block follows in it
    std::uint32_t warp = 0;  ///< in its block
    std::vector<WarpRun> runs{};
    std::vector<WarpLoad> loads{};
};

struct ShiftTimes {
    double cycles = 0;        ///< until the last block has ended
    std::vector<double> ends; ///< of the blocks, in the order of their end
    double more_passes = 0;   ///< of the data pipe than the blocks would take alone: those of barriers are
                              ///< shared, and shuffles are repeated
    double repeats = 0;       ///< those of them that repeat an access
    std::array<double, wait_count> waited{}; ///< cycles of all warps
    std::vector<WarpRow> rows;               ///< in the order of their start
};

ShiftTimes simulate(const Shift& shift, const Card& card);

} // namespace emulator::timing

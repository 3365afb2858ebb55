/// The time that a launch would take on a card, and what it would wait for.
#pragma once

#include "emulator/timing/card.hpp"
#include "emulator/timing/multiprocessor.hpp"
#include "emulator/timing/trace.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace emulator::timing {

/// Blocks that do the same, as far as that was looked at.
struct BlockRun {
    std::uint64_t first = 0; ///< the others follow it, up to the next run
    std::size_t sample = 0;  ///< which trace
};

/// What a launch makes the card do.
struct Work {
    std::vector<Instruction> code;
    std::vector<BlockTrace> samples;
    std::vector<BlockRun> runs; ///< in the order of their blocks; the first begins at 0
    bool last_goes_on = false;  ///< the last block, when all others have ended
    std::uint64_t blocks = 0;
    std::uint32_t threads = 0, registers = 0, shared_bytes = 0; ///< of a block, of a thread, of a block
    double atomic_sectors = 1;                                  ///< of global memory, that its atomics go to
    bool adds_floats = false;                                   ///< some of its atomics do
    double stored_piece_bytes =
        0; ///< how long pieces are that a block stores; 0: blocks side by side store all of it
};

/// What the instructions of a line add to Totals.
struct LineTotals {
    std::uint64_t instructions = 0, passes = 0;
};

/// Sums over the whole launch.
struct Totals {
    std::uint64_t instructions = 0;
    std::uint64_t passes =
        0; ///< of the shared-memory data pipe: idle ones, shuffles, fences and barriers too
    std::uint64_t conflicts = 0; ///< those of them that bank conflicts cause, of atomics too
    double moved_sectors = 0;    ///< from and to memory, those written weighted with what they cost more
    double pipe_cycles = 0;      ///< of the data pipe
    double partial_stores = 0;   ///< sectors that are stored in part, and the lines that these are in
    double hot_stores_ns = 0;    ///< that the L2 needs for those to sectors that many blocks store to
    double atomics = 0;          ///< sectors of atomics on global memory
    std::array<double, unit_count> issued{}; ///< instructions by unit
    std::vector<LineTotals> lines;           ///< by Instruction::line
};
Totals totals_of(const Work& work, const Card& card);

struct Estimate {
    double time_us = 0;
    /// The time that one part of the card needs alone, by the model.
    std::vector<std::pair<std::string, double>> floors_us;
    /// Shares of what the warps wait for; their sum is 1.
    std::vector<std::pair<std::string, double>> waits;
    double more_passes = 0; ///< than Totals has: what depends on the order of all blocks' warps
    double repeats = 0; ///< those of them that repeat a shuffle or an atomic; a card counts them as conflicts
    double recorded_cycles = 0;  ///< of one multiprocessor: as many as asked for, or all that it takes
    std::vector<WarpRow> rows{}; ///< what its warps do in them
};

/// Blocks that a multiprocessor holds at once; 0: not even one.
std::uint32_t resident_blocks(const Work& work, const Card& card);

std::vector<std::pair<std::string, double>> floors_us(const Work& work, const Card& card);

/// \param recorded_cycles of one multiprocessor, from the launch's begin on
Estimate estimate(const Work& work, const Card& card, double recorded_cycles = 0);

/// What kernels such errors are found for: "reductions", "kernels with shared atomics", …
std::string kind_of(const Work& work);

} // namespace emulator::timing

/// From a launch to what the clock needs of it: some of its blocks, interpreted. Nothing that they write stays.
#pragma once

#include "emulator/machine_code/warp.hpp"
#include "emulator/timing/estimate.hpp"

#include <chrono>

namespace emulator::machine_code {

using Deadline = std::chrono::steady_clock::time_point;

// ---- interpreter.cpp: runs single blocks, to see what their warps execute ----

struct InterpretedBlock {
    timing::BlockTrace trace;                         ///< what its warps execute, each in its own order
    std::unordered_set<std::uint64_t> atomic_sectors; ///< of global memory, that its atomics go to
    LoadedRanges loaded, stored;                      ///< from global memory, and to it
    std::vector<Place> places;                        ///< of global memory, that it fetches or stores to
    std::size_t used_sectors = 0;                     ///< of global memory
    Counters counters;                                ///< and what it adds to those that it counts in
};

/// \param max_steps of all warps
/// \param counters what each of the other blocks has added, if it is the last one; null: none has added yet
/// \throws NotUnderstood for code that is not understood, waits for another block, has too many steps, or takes
/// longer than the deadline
InterpretedBlock interpret(const Code& code, const LaunchView& launch, std::uint64_t block,
                           std::size_t max_steps, const Counters* counters = nullptr,
                           Deadline deadline = Deadline::max());

// ---- sampling.cpp ----

/// \throws NotUnderstood after the deadline
void expect_time_left(Deadline deadline);

/// What the clock has to know of an instruction.
timing::Instruction timing_of(const Instruction& instruction);

/// Interprets blocks until those between two neighbors do as they do. Where they never do, since data decide,
/// it stops after some, all over the grid.
/// \throws NotUnderstood, also where it has not seen enough by the deadline
timing::Work sample(const Code& code, LaunchView launch, const timing::Card& card,
                    Deadline deadline = Deadline::max());

/// Why the clock cannot judge what the sampled blocks execute; empty: it can.
std::string out_of_scope(const Code& code, const timing::Work& work);

} // namespace emulator::machine_code

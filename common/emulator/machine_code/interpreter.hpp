/// \file
/// Runs single blocks of a launch, to see what their warps execute. Nothing that they write stays.
#pragma once

#include "emulator/machine_code/warp.hpp"

namespace emulator::machine_code {

struct InterpretedBlock {
    timing::BlockTrace trace;                       ///< what its warps execute, each in its own order
    std::unordered_set<std::uint64_t> atomic_words; ///< of global memory, that its atomics go to
};

/// \param max_steps of all warps
/// \throws NotUnderstood for code that is not understood, waits for another block, or has too many steps
InterpretedBlock interpret(const Code& code, const LaunchView& launch, std::uint64_t block,
                           std::size_t max_steps);

} // namespace emulator::machine_code

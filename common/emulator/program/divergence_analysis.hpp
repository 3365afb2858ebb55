/// \file
/// Which registers can differ between the lanes of a warp, as far as the PTX shows.
#pragma once

#include "emulator/ptx/module.hpp"

#include <vector>

namespace emulator {

/// For each register of `function`: whether its value can differ between the lanes of a warp.
///
/// It can if it is computed from a thread's index, the result of an atomic, a shuffle with a per-lane source,
/// local memory or another such register, or if it is written on both sides of a divergent branch. ptxas of
/// CUDA 13.0 uses the same criteria, as its machine code shows, when it aggregates the atomics of a warp.
std::vector<bool> divergent_registers(const ptx::Function& function);

/// Whether the statement's first operand is what it writes.
bool writes_first_operand(const ptx::Statement& statement);

} // namespace emulator

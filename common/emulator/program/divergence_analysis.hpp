/// \file
/// Which registers hold the same value in all lanes of a warp, as far as the text alone shows it.
#pragma once

#include "emulator/ptx/module.hpp"

#include <vector>

namespace emulator {

/// For each register of `function`: whether its value can differ between the lanes of a warp.
///
/// It does if it is made from a thread's own index, an atomic's result, a shuffle from a lane of one's own
/// choice, local memory or another such register, or is written on both sides of a branch that splits a warp.
/// This is what ptxas goes by (CUDA 13.0, seen in its machine code) when it has one lane do an atomic for the
/// whole warp.
std::vector<bool> divergent_registers(const ptx::Function& function);

/// Whether the statement's first operand is what it writes.
bool writes_first_operand(const ptx::Statement& statement);

} // namespace emulator

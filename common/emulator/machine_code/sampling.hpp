/// \file
/// From a launch to what the clock needs of it: some of its blocks, interpreted.
#pragma once

#include "emulator/machine_code/interpreter.hpp"
#include "emulator/timing/estimate.hpp"

namespace emulator::machine_code {

/// What the clock has to know of an instruction.
timing::Instruction timing_of(const Instruction& instruction);

/// Interprets blocks until those between two neighbors do as they do. Where they never do, since data decide,
/// it stops after some, all over the grid.
/// \throws NotUnderstood
timing::Work sample(const Code& code, LaunchView launch, const timing::Card& card);

/// Why the clock cannot judge what the sampled blocks execute; empty: it can.
std::string out_of_scope(const Code& code, const timing::Work& work);

} // namespace emulator::machine_code

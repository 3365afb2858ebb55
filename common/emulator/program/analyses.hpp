/// What a function's PTX, or its code, shows about how it runs. Each analysis is in a file of its own.
#pragma once

#include "emulator/ptx/module.hpp"

#include <cstdint>
#include <vector>

namespace emulator {

struct Code;

// ---- divergence_analysis.cpp: which registers can differ between the lanes of a warp ----

/// For each register of `function`: whether its value can differ between the lanes of a warp.
///
/// It can if it is computed from a thread's index, the result of an atomic, a shuffle with a per-lane source,
/// local memory or another such register, or if it is written on both sides of a divergent branch. ptxas of
/// CUDA 13.0 uses the same criteria, as its machine code shows, when it aggregates the atomics of a warp.
std::vector<bool> divergent_registers(const ptx::Function& function);

/// Whether the statement's first operand is what it writes.
bool writes_first_operand(const ptx::Statement& statement);

// ---- spin_loops.cpp: loops that wait for other blocks, for an mbarrier alone, or for an atomicCAS ----

/// Whether the function has a loop that rereads global memory in each iteration, as a loop that waits for
/// another block must: with an atomic, or a load that is volatile or ordered. In a called function, any such
/// instruction counts: the loop may be in its caller.
bool may_spin(const Code& code);

/// Whether a lane whose mbarrier.test_wait or try_wait at `test` fails can only repeat the same test: no path
/// from there leaves the loop, accesses memory, or changes the operands. Loops that count or read the clock
/// qualify if that only decides how long they sleep.
///
/// False if uncertain, as in a loop around the call of a function that tests.
bool spins_on_phase(const Code& code, std::uint32_t test);

/// Whether an atomicCAS of the same function compares with the value that the load at `pc` reads. Programs
/// build atomics that CUDA lacks from such loops: `old = *address; do { ... } while (...)`. A stale value
/// does no harm: the atomicCAS fails and returns the present one.
bool is_cas_loop_load(const Code& code, std::uint32_t pc);

} // namespace emulator

/// \file
/// Loops that wait for other blocks, for an mbarrier alone, or for an atomicCAS to succeed.
#pragma once

#include <cstdint>

namespace emulator {

struct Code;

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

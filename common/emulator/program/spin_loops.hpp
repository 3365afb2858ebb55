/// \file
/// Loops that wait for other blocks, or for an mbarrier alone.
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

} // namespace emulator

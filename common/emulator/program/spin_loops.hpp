/// \file
/// Loops that wait: for what other blocks do, or for an mbarrier alone.
#pragma once

#include <cstdint>

namespace emulator {

struct Code;

/// Whether the function has a loop that looks at global memory anew in each turn, as one that waits for
/// another block has to: by an atomic, or a load that is volatile or ordered. In a function that is called,
/// any such instruction will do: the loop may be in its caller.
bool may_spin(const Code& code);

/// Whether a lane to which the mbarrier.test_wait or try_wait at `test` says no can do nothing but ask the
/// same again: no way from there leads elsewhere, or to a memory access, and none changes what is asked.
/// Loops that count or look at the clock are among these if they only choose how long to sleep.
///
/// False where that is not certain, as in a loop around the call of a function that asks.
bool spins_on_phase(const Code& code, std::uint32_t test);

} // namespace emulator

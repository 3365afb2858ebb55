/// \file
/// Loads whose value an atomicCAS checks.
#pragma once

#include <cstdint>

namespace emulator {

struct Code;

/// Whether an atomicCAS of the same function compares with what the load at `pc` brings, as in the loops by
/// which programs make atomics that there are not: `old = *address; do { ... } while (...)`. If the value is
/// out of date, the atomicCAS fails and brings the present one: no harm is done.
bool is_cas_loop_load(const Code& code, std::uint32_t pc);

} // namespace emulator

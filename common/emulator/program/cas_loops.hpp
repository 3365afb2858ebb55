/// \file
/// Loads whose value an atomicCAS checks.
#pragma once

#include <cstdint>

namespace emulator {

struct Code;

/// Whether an atomicCAS of the same function compares with the value that the load at `pc` reads. Programs
/// build atomics that CUDA lacks from such loops: `old = *address; do { ... } while (...)`. A stale value
/// does no harm: the atomicCAS fails and returns the present one.
bool is_cas_loop_load(const Code& code, std::uint32_t pc);

} // namespace emulator

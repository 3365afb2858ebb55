/// Include this in the main.cu of a program for several devices. Where no GPU is there, it emulates four, unless
/// EMULATE_DEVICES or --devices asks for another number.
#pragma once

#include <cstdlib>

namespace harness {

/// Runs before nvcc's code registers the kernels, which is when the CUDA runtime starts.
[[gnu::constructor(101)]] static void ask_for_devices() { setenv("EMULATE_DEVICES", "4", 0); }

} // namespace harness

/// Programs that contain the static CUDA runtime, which is nvcc's default.
#pragma once

namespace emulator {

/// Whether the library can replace it: that takes machine code.
#ifdef __x86_64__
inline constexpr bool redirects_static_runtime = true;
#else
inline constexpr bool redirects_static_runtime = false;
#endif

/// `emulate` sets this variable for such a program, and preloads the library.
inline constexpr const char* static_runtime_variable = "EMULATOR_STATIC_RUNTIME";

} // namespace emulator

/// The threads that the emulator has beside those of the program, and that do not end with a call.
#pragma once

#include <atomic>

namespace emulator {

inline std::atomic<int> own_threads{0};

} // namespace emulator

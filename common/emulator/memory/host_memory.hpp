/// \file
/// This process's memory outside of the device's: what a host pointer points to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace emulator {

/// What lies at `address`: "its stack", "its heap", "a variable of lesson03"; empty if unknown; nothing if
/// there is no memory.
std::optional<std::string> host_memory_at(std::uint64_t address);

} // namespace emulator

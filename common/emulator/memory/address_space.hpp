/// How generic addresses are divided among the state spaces, and what those of the host point to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace emulator {

/// Generic addresses of shared, local and parameter memory start here: no address of the host's memory has
/// these top bytes.
inline constexpr std::uint64_t window_mask = 0xFF00'0000'0000'0000;
inline constexpr std::uint64_t shared_window = 0x0100'0000'0000'0000;
inline constexpr std::uint64_t local_window = 0x0200'0000'0000'0000;
inline constexpr std::uint64_t param_window = 0x0300'0000'0000'0000;

/// Base of function addresses; the function's number in its module is added. There is no memory there.
inline constexpr std::uint64_t function_window = 0x0400'0000'0000'0000;

/// Shared memory of the block of rank r in its cluster begins at r times this, as on a card of compute
/// capability 9.0. So a block's own address means the same in the other blocks.
inline constexpr int shared_rank_shift = 24;
inline constexpr std::uint64_t shared_rank_bytes = 1 << shared_rank_shift;

/// What lies at `address` in this process's memory outside of the device's: "its stack", "its heap", "a variable of lesson03"; empty if unknown; nothing if
/// there is no memory.
std::optional<std::string> host_memory_at(std::uint64_t address);

} // namespace emulator

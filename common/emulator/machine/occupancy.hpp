/// How many blocks of a kernel a multiprocessor holds at once.
#pragma once

#include <cstdint>

namespace emulator {

/// CUDA reserves this much of each block's shared memory.
inline constexpr std::uint32_t reserved_shared_bytes_per_block = 1024;

/// Shared memory is allocated in multiples of this many bytes.
inline constexpr std::uint32_t shared_granularity = 128;

/// Blocks of `threads` threads and `shared_bytes` bytes of static and dynamic shared memory that are resident
/// on a multiprocessor at once; 0 if not even one fits. Ignores registers: PTX does not show how many machine
/// registers a kernel needs.
std::uint32_t resident_blocks(std::uint64_t threads, std::uint64_t shared_bytes);

/// The most shared memory per block, static and dynamic, in bytes, with which a multiprocessor still holds
/// `blocks` blocks at once; 0 if they don't fit anyway.
std::uint32_t shared_bytes_for(std::uint32_t blocks);

} // namespace emulator

/// \file
/// What a kernel launch is given and what it leaves behind.
#pragma once

#include "emulator/memory/global_memory.hpp"
#include "emulator/observe/counters.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace emulator {

class Kernel;

/// Extents in x, y and z.
struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;

    std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// The device that the emulator reports and keeps to: the limits of compute capability 9.0.
struct DeviceLimits {
    static constexpr std::uint32_t compute_capability_major = 9, compute_capability_minor = 0;
    static constexpr std::uint32_t multiprocessors = 132;
    static constexpr std::uint32_t warp_size = 32;
    static constexpr std::uint32_t threads_per_block = 1024;
    static constexpr Dim3 block{1024, 1024, 64};
    static constexpr Dim3 grid{2147483647, 65535, 65535};
    static constexpr std::uint32_t default_shared_bytes_per_block = 48 * 1024;
    static constexpr std::uint32_t shared_bytes_per_block = 227 * 1024; ///< after opting in
    static constexpr std::uint32_t shared_bytes_per_multiprocessor = 228 * 1024;
    static constexpr std::uint32_t threads_per_multiprocessor = 2048;
    static constexpr std::uint32_t blocks_per_multiprocessor = 32;
    static constexpr std::uint32_t registers_per_multiprocessor = 65536;
};

struct LaunchConfiguration {
    Dim3 grid, block;
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t dynamic_shared_limit =
        DeviceLimits::default_shared_bytes_per_block; ///< as set by cudaFuncSetAttribute
};

/// Runs `kernel` to its end over the whole grid, blocks spread over `host_threads` threads (0: one a core).
/// `parameters` is the kernel's parameter buffer, laid out as its PTX declares it (`Kernel::parameters()`).
/// Returns the launch's counters.
/// \throws Error: invalid_configuration before anything ran; everything else as soon as the first thread
/// failed, with kernel, block, thread, PTX line and source line in the message. Memory keeps what was written
/// until then.
Counters run(const Kernel& kernel, const LaunchConfiguration& configuration,
             std::span<const std::byte> parameters, GlobalMemory& memory, unsigned host_threads = 0);

} // namespace emulator

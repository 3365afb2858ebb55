/// \file
/// A launch that runs.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/memory/global_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace emulator {

class Schedule;

/// What all blocks of a launch share.
struct Grid {
    const Kernel& kernel;
    LaunchConfiguration configuration;
    bool has_clusters; ///< that it asked for
    Dim3 cluster;      ///< blocks; 1 x 1 x 1 without clusters
    std::span<const std::byte> parameters;
    GlobalMemory& memory;
    std::uint32_t stack_bytes = 0; ///< local memory of a thread
    /// Of a cooperative launch: where cooperative groups keep the grid's barrier.
    std::uint64_t workspace = 0;
    bool may_wait = false;        ///< blocks may wait for each other in a loop
    Schedule* schedule = nullptr; ///< null: the usual order
};

} // namespace emulator

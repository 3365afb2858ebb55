/// The inputs of a kernel launch, the function that runs it, and what its blocks share meanwhile.
#pragma once

#include "emulator/machine/counters.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/memory/global_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace emulator {

class Kernel;
class Schedule;
class Watcher;

/// The device that the emulator reports, with the limits of compute capability 9.0.
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
    static constexpr std::uint32_t blocks_per_cluster = 8;
    static constexpr std::uint32_t blocks_per_large_cluster = 16; ///< after opting in
    static constexpr std::uint32_t threads_per_multiprocessor = 2048;
    static constexpr std::uint32_t blocks_per_multiprocessor = 32;
    static constexpr std::uint32_t registers_per_multiprocessor = 65536;
    static constexpr std::uint32_t local_bytes_per_thread = 512 * 1024;
    /// For called functions. A card has 1 KiB for recursive calls, and allocates what other calls need.
    static constexpr std::uint32_t default_call_stack_bytes = 16 * 1024;
};

/// How a kernel is launched: the configuration from <<< >>> or the like, and the limits that were set for the
/// kernel. A running launch is a Grid.
struct LaunchConfiguration {
    Dim3 grid, block;
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t dynamic_shared_limit = 0; ///< as set by cudaFuncSetAttribute
    std::optional<Dim3> cluster = {};       ///< none: as in the kernel's attributes, or no clusters
    std::uint32_t cluster_limit = DeviceLimits::blocks_per_cluster; ///< as set by cudaFuncSetAttribute
    bool cooperative = false;                                       ///< the grid may synchronize
    std::uint32_t call_stack_bytes = DeviceLimits::default_call_stack_bytes; ///< of each thread
    int device = 0;                                                          ///< on which it runs
};

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
    bool takes_turns = false;     ///< other launches may run before it ends; then it has one host thread
    Schedule* schedule = nullptr; ///< null: the usual order
};

/// Options of a run. None of them changes what a correct kernel computes.
struct RunOptions {
    unsigned int host_threads = 0;              ///< 0: one for each core; a schedule has only one
    std::span<Watcher* const> watchers{};       ///< beside the counters
    std::optional<std::uint64_t> schedule = {}; ///< seed of a random order of blocks, warps and lanes
    bool takes_turns = false; ///< with other launches, so it pauses when it only waits: see SpinWatch
};

/// \throws Error invalid_configuration if the device does not accept the grid, or the kernel the block.
void check_extents(const Kernel& kernel, const LaunchConfiguration& configuration);

/// \throws Error invalid_cluster unless the launch may have the clusters that it asks for.
void check_cluster(const Kernel& kernel, const LaunchConfiguration& configuration);

/// The number of the launch's blocks that are resident on the device at once. For a cooperative launch it
/// must be all.
std::uint64_t blocks_on_device(const Kernel& kernel, const LaunchConfiguration& configuration);

/// A launch in progress. It runs piece by piece, so that launches which wait for each other take turns.
class RunningLaunch {
public:
    static constexpr std::uint64_t to_its_end = UINT64_MAX;

    virtual ~RunningLaunch() = default;

    /// Runs to the kernel's end, until each host thread has executed about so many warp instructions, or until
    /// it only waits for others. Returns whether the kernel has ended. \throws Error when the first thread fails, with kernel, block,
    /// thread, PTX line and source line in the message. Memory keeps what was written until then.
    virtual bool run_for(std::uint64_t instructions) = 0;

    /// Whether all that it can do is to spin until something else changes memory. Only if it takes turns.
    virtual bool spins() = 0;
    /// Where one of its threads is: "thread (0,0,0) of block (3,0,0) at meet.cu:12". Empty: not known.
    virtual std::string place() const = 0;

    /// Once it has ended.
    virtual const Counters& counters() const = 0;
};

/// Begins to run `kernel` over the whole grid, with the blocks spread over host threads. `parameters` is the
/// kernel's parameter buffer in the layout that its PTX declares (`Kernel::parameters()`). \throws Error:
/// invalid_configuration or invalid_cluster.
std::unique_ptr<RunningLaunch> begin_launch(const Kernel& kernel, const LaunchConfiguration& configuration,
                                            std::span<const std::byte> parameters, GlobalMemory& memory,
                                            const RunOptions& options = {});

/// The same, to its end. Returns the launch's counters. \throws Error as both do.
Counters run(const Kernel& kernel, const LaunchConfiguration& configuration,
             std::span<const std::byte> parameters, GlobalMemory& memory, const RunOptions& options = {});

} // namespace emulator

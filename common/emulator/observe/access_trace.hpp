/// Records the accesses of one block of a launch, for pictures. Its size does not depend on how long the
/// block runs.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/machine/observer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace emulator {

/// Where an instruction stands in the program.
struct TracedPlace {
    std::string path;       ///< in the CUDA source; empty: compiled without -lineinfo
    std::uint32_t line = 0; ///< in the CUDA source, or else in the PTX
    std::string ptx;        ///< the PTX statement, on one line
};

/// One request, as a warp made it.
struct TracedRequest {
    std::uint32_t warp = 0;
    std::uint64_t turn = 0; ///< how many earlier requests the warp made with the same instruction
    LaneMask active = 0;
    std::uint32_t cost = 0;                           ///< shared wavefronts or global sectors, as counted
    std::uint32_t ideal = 0;                          ///< the minimum for the same bytes and lanes
    std::array<std::uint64_t, warp_size> addresses{}; ///< as in Access
};

/// An instruction that accesses shared or global memory, and what it did in the block.
struct TracedAccess {
    TracedPlace place{};
    ptx::Space space = ptx::Space::global;
    AccessKind kind = AccessKind::load;
    std::uint32_t bytes = 0;
    std::uint64_t requests = 0, cost = 0, ideal = 0; ///< summed over the block's warps
    /// The request with the highest cost above its ideal. Ties go to the lowest warp, then to its first
    /// request.
    TracedRequest worst{};

    Access worst_access() const { return {space, kind, bytes, worst.active, worst.addresses.data()}; }
};

/// A 4-byte word of shared memory as a store or an atomic left it.
struct TracedWrite {
    std::uint32_t word = 0, value = 0; ///< word: the offset divided by 4
};

/// Lanes that wait at a barrier of the block.
struct TracedWait {
    std::uint32_t warp = 0;
    LaneMask lanes = 0;
    std::uint32_t line = 0; ///< of the barrier, as in TracedPlace
};

/// What all warps did at one instruction, in the same iteration of a loop.
struct TracedStep {
    TracedPlace place{};
    std::string what; ///< "shared store", "global atomic", "exchange" between lanes
    bool is_load = false;
    std::uint32_t barriers = 0;   ///< that the block had passed before
    std::vector<LaneMask> active; ///< of each warp
    // Only with TraceOptions::values:
    std::vector<TracedWrite> writes{};     ///< to shared memory
    std::vector<TracedRequest> requests{}; ///< to memory, those of each warp
    std::vector<TracedWait> waiting{};     ///< those that have done their last step before the barrier
};

/// A named piece of memory.
struct TracedVariable {
    std::string name; ///< "tile", "cudaMalloc #3"
    std::uint64_t address = 0, bytes = 0;
};

struct AccessTrace {
    std::string kernel{}; ///< readable, with its parameters
    Dim3 grid{}, block{}; ///< extents
    Dim3 index{0, 0, 0};  ///< the recorded block's
    bool ran = false;     ///< false: there was no such block

    std::vector<TracedAccess> accesses{}; ///< in the order in which they were first executed
    std::vector<TracedStep> steps{};
    std::uint64_t steps_left_out = 0; ///< steps beyond the limit

    std::vector<TracedVariable> shared{};      ///< variables in shared memory, by offset
    std::vector<TracedVariable> allocations{}; ///< in global memory, those of the worst requests
    std::vector<bool> touched{};               ///< words of shared memory that some thread accessed

    std::uint32_t threads() const { return static_cast<std::uint32_t>(block.count()); }
    std::uint32_t warps() const { return (threads() + warp_size - 1) / warp_size; }
};

/// What to record.
struct TraceOptions {
    std::uint64_t block = 0; ///< linear index
    std::uint32_t line = 0;  ///< steps: only those of this line; 0: all that write memory or exchange values
    std::size_t max_steps = 200; ///< of them, the first
    bool values = false;         ///< of the words that they write, and their requests
};

/// Watches one launch.
class AccessTracing final : public Watcher {
public:
    explicit AccessTracing(TraceOptions options = {});
    ~AccessTracing() override;

    std::unique_ptr<Observer> observer(const Grid& grid) override;
    /// A block's accesses may depend on other blocks, and a picture must be the same in each run.
    bool wants_one_thread() const override { return true; }

    /// Call it after the launch. If the launch failed, the trace ends where it failed.
    const AccessTrace& trace() const { return trace_; }

private:
    TraceOptions options_;
    AccessTrace trace_;
};

} // namespace emulator

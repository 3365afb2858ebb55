/// \file
/// What the runtime reports of a run to whoever observes it: the interface that session/ implements.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/memory/memory_events.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// Only the library that `emulate` brings has one: session/observation.cpp. In the one that lessons run on,
/// session/no_observation.cpp stands in for it.
class Observation {
public:
    /// Null when nothing is asked for: then observation costs no time.
    static Observation* instance();

    /// The file whose kernels run in place of the program's own; empty: none.
    virtual std::string replacing_ptx() const = 0;

    /// emulator::run, watched, and with its records written.
    virtual Counters run(const Kernel& kernel, const LaunchConfiguration& configuration,
                         std::span<const std::byte> parameters, GlobalMemory& memory) = 0;

    /// Those of all recorders.
    virtual std::vector<MemoryEvents*> memory_listeners() const = 0;

    /// Writes the findings of a call that launches no kernel, such as a cudaFree or a cudaMemcpy. To be
    /// called when the call ends.
    virtual void write_findings() = 0;

    /// A launch was rejected before it came to run().
    virtual void write_rejected_launch() = 0;

    /// The emulator does not support this function of the API, or, where it is empty, cannot run the kernel
    /// of a launch. A card would have done it.
    virtual void write_refusal(const std::string& function) = 0;

    /// Writes a message that the emulator printed.
    virtual void write_error(std::string_view text) = 0;

    /// The program ends.
    virtual void finish() = 0;

protected:
    ~Observation() = default; // lives as long as the process, as Runtime
};

} // namespace emulator

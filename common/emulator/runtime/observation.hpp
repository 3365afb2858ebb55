/// What the runtime reports of a run to an observer: the interface that session/ implements.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/memory/memory_events.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// Only `emulate`'s library implements it: session/observation.cpp. The lessons' library uses
/// session/no_observation.cpp instead.
class Observation {
public:
    /// Null if nothing was requested: then observation costs no time.
    static Observation* instance();

    /// The file whose kernels replace the program's; empty: none.
    virtual std::string replacing_ptx() const = 0;

    /// Where device memory is to begin; 0: anywhere. See GlobalMemory::place_from().
    virtual std::uint64_t first_address() const = 0;

    /// Whether launches are estimated in place of run: the contents of memory hardly matter then.
    virtual bool only_estimates() const = 0;

    /// The seed of the order in which blocks, and operations of streams, run; nothing: the usual one.
    virtual std::optional<std::uint64_t> schedule() const = 0;

    /// What was estimated of the last launch, as JSON; empty: nothing.
    virtual const std::string& last_estimate() const = 0;

    /// emulator::begin_launch with observers. It also writes the launch's records.
    virtual std::unique_ptr<RunningLaunch> begin_launch(const Kernel& kernel,
                                                        const LaunchConfiguration& configuration,
                                                        std::span<const std::byte> parameters,
                                                        GlobalMemory& memory, bool takes_turns) = 0;

    /// Those of all recorders.
    virtual std::vector<MemoryEvents*> memory_listeners() const = 0;

    /// Writes the findings of a call that launches no kernel, such as cudaFree or cudaMemcpy. Call it when
    /// the API call ends.
    virtual void write_findings() = 0;

    /// A launch failed before it reached run().
    virtual void write_rejected_launch() = 0;

    /// The emulator does not support this API function, or, if empty, cannot run a launched kernel. A card
    /// could.
    virtual void write_refusal(const std::string& function) = 0;

    /// Writes a message that the emulator printed.
    virtual void write_error(std::string_view text) = 0;

    /// The program ends.
    virtual void finish() = 0;

protected:
    ~Observation() = default; // never destroyed, like Runtime
};

} // namespace emulator

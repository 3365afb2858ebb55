/// \file
/// What Observation asks to watch launches, and to write about them.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/memory/memory_events.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <vector>

namespace emulator {

using Json = nlohmann::ordered_json;

/// A launch, as a recorder sees it.
struct ObservedLaunch {
    std::uint64_t number; ///< of this process, from 0
    const Kernel& kernel;
    const LaunchConfiguration& configuration;
    bool selected; ///< by Request::kernel and Request::launch: others are not to be written about
};

/// Records one kind of observation. Lives as long as the process. Calls come one at a time.
class Recorder {
public:
    virtual ~Recorder() = default;

    /// What watches the launch that is about to begin, until end(); null: this launch does not matter. Called
    /// for all launches, selected or not, since a checker may have to follow what the others write.
    virtual Watcher* begin(const ObservedLaunch& launch) = 0;

    /// The launch that began last has ended, well or not. Returns what there is to write of it: records with
    /// their kind, {"record": "lines", …}. "process" and "launch" are added to them.
    virtual std::vector<Json> end(const ObservedLaunch&);

    /// The program ends: last findings, such as leaks.
    virtual void finish() {}

    /// Receives what the host does to device memory. Null: nothing does.
    virtual MemoryEvents* memory_listener() { return nullptr; }
};

} // namespace emulator

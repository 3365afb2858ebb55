/// The interface through which Observation makes launches watched and gets records.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/memory/memory_events.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace emulator {

using Json = nlohmann::ordered_json;

/// A launch, as a recorder sees it.
struct ObservedLaunch {
    std::uint64_t number; ///< of this process, from 0
    const Kernel& kernel;
    const LaunchConfiguration& configuration;
    bool selected; ///< by Request::kernel and Request::launch: don't write about others
    std::span<const std::byte> parameters; ///< in the layout of Kernel::parameters()
    const GlobalMemory& memory;
    bool takes_turns; ///< with other launches: see RunOptions
};

/// Records one kind of observation. Lives as long as the process. Calls come one at a time. A launch may begin
/// before an earlier one ends.
class Recorder {
public:
    virtual ~Recorder() = default;

    /// The watcher of the launch that is about to begin, until end(); null: this launch does not matter.
    /// Called for all launches, selected or not, since a checker may have to know what the others write.
    virtual Watcher* begin(const ObservedLaunch& launch) = 0;

    /// The launch has ended, with or without an error. Returns its records with their kind, {"record":
    /// "lines", …}. "process" and "launch" are added to them.
    virtual std::vector<Json> end(const ObservedLaunch&);

    /// The program ends: last findings, such as leaks, and records that belong to no launch.
    virtual std::vector<Json> finish();

    /// Receives the host's operations on device memory. May be null.
    virtual MemoryEvents* memory_listener() { return nullptr; }
};

/// A checker as a recorder: it watches every launch and reports to the given Findings. `Checker` is a Watcher. It may implement MemoryEvents too.
template <class Checker> class CheckRecorder final : public Recorder {
public:
    template <class... Arguments>
    explicit CheckRecorder(Arguments&&... arguments) : checker_(std::forward<Arguments>(arguments)...) {}

    Watcher* begin(const ObservedLaunch&) override {
        if constexpr (requires { checker_.is_needed(); }) return checker_.is_needed() ? &checker_ : nullptr;
        return &checker_;
    }

    std::vector<Json> finish() override {
        if (MemoryEvents* const listener = memory_listener()) listener->program_ends();
        return Recorder::finish();
    }

    MemoryEvents* memory_listener() override {
        if constexpr (std::is_base_of_v<MemoryEvents, Checker>) return &checker_;
        return nullptr;
    }

private:
    Checker checker_;
};

} // namespace emulator

/// \file
/// Checkers as recorders: they watch every launch and report to the given Findings.
#pragma once

#include "emulator/memory/memory_events.hpp"
#include "emulator/session/recorder.hpp"

#include <type_traits>
#include <utility>

namespace emulator {

/// `Checker` is a Watcher. It may implement MemoryEvents too.
template <class Checker> class CheckRecorder final : public Recorder {
public:
    template <class... Arguments>
    explicit CheckRecorder(Arguments&&... arguments) : checker_(std::forward<Arguments>(arguments)...) {}

    Watcher* begin(const ObservedLaunch&) override { return &checker_; }

    void finish() override {
        if (MemoryEvents* const listener = memory_listener()) listener->program_ends();
    }

    MemoryEvents* memory_listener() override {
        if constexpr (std::is_base_of_v<MemoryEvents, Checker>) return &checker_;
        return nullptr;
    }

private:
    Checker checker_;
};

} // namespace emulator

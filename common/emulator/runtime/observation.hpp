/// \file
/// Observes this process's launches for `emulate`, and appends what was seen to its report file: JSON Lines,
/// one record a line, each as soon as it is known, so that a crash of the program loses none.
///
/// To have something new observed: write a Watcher (observe/), wrap it in a Recorder, and add the recorder to
/// make_recorders() in observation.cpp. What checkers find goes to its Findings; they need no records of their
/// own.
///
/// The records. They all have "process" too, its number.
///   {"record": "process", "program": "/home/me/lesson03"}
///   {"record": "launch", "launch": 0, "kernel": "reduce3", "name": "reduce3(int const*, int*)",
///    "grid": [8192,1,1], "block": [256,1,1], "dynamic_shared_bytes": 1024, "counters": {…} or "error": "…"}
///   {"record": "other launch", …the same…}: one that was not asked for
///   {"record": "running", "launch": 0, "name": "reduce3(int const*, int*)", "somebody": …a Party's
///   members…}: of a
///    launch that takes long, who is where; for the case that it does not end
///   {"record": "finding", "launch": 0 or null, …a Finding's members…}
///   {"record": "refused launch"}: one that has not begun, and is not among those that are numbered
///   {"record": "error", "text": "…"}: what the emulator printed on stderr
///   {"record": "cut off"}, alone: the file could not be written
///   and those of the recorders: {"record": "lines", "launch": 0, …}, {"record": "accesses", …}
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/observe/memory_events.hpp"
#include "emulator/runtime/request.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace emulator {

/// What is observed, and written: only the library that `emulate` brings has one.
class Observation {
public:
    /// Null when nothing is asked for: then nothing is observed, and nothing costs time.
    static Observation* instance();

    virtual const Request& request() const = 0;

    /// emulator::run, watched, and with its records written.
    virtual Counters run(const Kernel& kernel, const LaunchConfiguration& configuration,
                         std::span<const std::byte> parameters, GlobalMemory& memory) = 0;

    /// Those of all recorders.
    virtual std::vector<MemoryEvents*> memory_listeners() const = 0;

    /// Writes the findings of a call that launches no kernel, such as a cudaFree or a cudaMemcpy. To be
    /// called when the call ends.
    virtual void write_findings() = 0;

    /// A launch that was refused before run() would have come to it.
    virtual void write_refused_launch() = 0;

    /// Writes what the emulator tells the user.
    virtual void write_error(std::string_view text) = 0;

    /// The program ends.
    virtual void finish() = 0;

protected:
    ~Observation() = default; // lives as long as the process, as Runtime
};

} // namespace emulator

/// \file
/// Observes this process's launches for `emulate`, and appends what was seen to its report file: JSON Lines,
/// one record a line, each as soon as it is known, so that a crash of the program loses none.
///
/// To have something new observed: write a Watcher (observe/), wrap it in a Recorder, and add the recorder to
/// make_recorders() in observation.cpp. What checkers find goes to findings(); they need no records of their
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
#include "emulator/observe/finding.hpp"
#include "emulator/observe/memory_events.hpp"
#include "emulator/observe/observer.hpp"
#include "emulator/runtime/request.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <vector>

namespace emulator {

class LaunchProgress;

using Json = nlohmann::ordered_json;

/// A launch, as a recorder sees it.
struct ObservedLaunch {
    std::uint64_t number; ///< of this process, from 0
    const Kernel& kernel;
    const LaunchConfiguration& configuration;
    bool selected; ///< by Request::kernel and Request::launch: others are not to be written about
};

/// Something that can be asked for. Lives as long as the process. Its functions are called one at a time.
class Recorder {
public:
    virtual ~Recorder() = default;

    /// What watches the launch that is about to begin, until end(); null: this launch does not matter. Called
    /// for all launches, selected or not, since a checker may have to follow what the others write.
    virtual Watcher* begin(const ObservedLaunch& launch) = 0;

    /// The launch that began last has ended, well or not. Returns what there is to write of it: records with
    /// their kind, {"record": "lines", …}. "process" and "launch" are added to them.
    virtual std::vector<Json> end(const ObservedLaunch&);

    /// The program ends. What is left to be found (leaks) goes to Observation::findings().
    virtual void finish() {}

    /// Who has to know what the host does to device memory; null: nobody.
    virtual MemoryEvents* memory_listener() { return nullptr; }
};

class Observation {
public:
    /// Null when nothing is asked for: then nothing is observed, and nothing costs time.
    static Observation* instance();

    const Request& request() const { return request_; }

    /// For whatever finds something. During a launch: what is added belongs to it, and is written when it
    /// ends, if it is selected.
    Findings& findings() { return findings_; }

    /// emulator::run, watched, and with its records written.
    Counters run(const Kernel& kernel, const LaunchConfiguration& configuration,
                 std::span<const std::byte> parameters, GlobalMemory& memory);

    /// Those of all recorders.
    std::vector<MemoryEvents*> memory_listeners() const;

    /// Writes the findings of a call that launches no kernel, such as a cudaFree or a cudaMemcpy. To be
    /// called when the call ends.
    void write_findings() { write_findings(nullptr); }

    /// A launch that was refused before run() would have come to it.
    void write_refused_launch();

    /// Writes what the emulator tells the user.
    void write_error(std::string_view text);

    /// The program ends.
    void finish();

private:
    Observation(Request request, std::string path);
    std::vector<std::unique_ptr<Recorder>> make_recorders();
    void write_findings(const ObservedLaunch* launch);
    void write(Json record);
    void notice_fork();

    const Request request_;
    const std::string path_; ///< of the report
    const std::regex kernels_;
    Findings findings_;
    std::vector<std::unique_ptr<Recorder>> recorders_;
    int process_ = 0;                    ///< that the report knows of; after a fork it is another
    std::uint64_t launches_ = 0;         ///< that process's
    LaunchProgress* progress_ = nullptr; ///< that process's
    bool failed_ = false;                ///< the report could not be written
};

} // namespace emulator

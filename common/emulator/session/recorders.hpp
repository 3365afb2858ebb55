/// Records of what observe/ sees: counters by source line, and accesses.
#pragma once

#include "emulator/observe/access_trace.hpp"
#include "emulator/observe/line_counts.hpp"
#include "emulator/observe/peer_traffic.hpp"
#include "emulator/session/recorder.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace emulator {

void to_json(Json& json, const FunctionLines& function);
void from_json(const Json& json, FunctionLines& function);

/// {"record": "lines", "kernel": "reduce3", "name": "reduce3(int const*, …)", "functions": [{"function": …,
/// "path": …, "first_line": 7, "lines": [{"line": 12, "counted": {"l1tex__…": 8192, …}, "ideal": {…}}, …],
/// "ptx": […]}, …]}, for each selected launch. Counters that are 0 are left out.
class LineRecorder final : public Recorder {
public:
    Watcher* begin(const ObservedLaunch& launch) override;
    std::vector<Json> end(const ObservedLaunch& launch) override;

private:
    std::map<std::uint64_t, LineCounting> counting_; ///< by launch
};

/// With several devices: {"record": "peers", "peers": [{"device": 1, "load_sectors": …, "store_sectors": …,
/// "atomic_sectors": …}, …]}, of each selected launch that accesses the memory of others. In the end {"record":
/// "copies", "copies": [{"from": 0, "to": 1, "count": …, "bytes": …, "through_host": false}, …]}. A device that is
/// null is the host; its managed memory is among it.
class PeerRecorder final : public Recorder, public MemoryEvents {
public:
    Watcher* begin(const ObservedLaunch& launch) override;
    std::vector<Json> end(const ObservedLaunch& launch) override;
    std::vector<Json> finish() override;
    MemoryEvents* memory_listener() override { return this; }
    void moved(int from, int to, std::size_t bytes, bool is_direct) override;

private:
    struct Copies {
        std::uint64_t count = 0, bytes = 0;
    };
    std::map<std::uint64_t, PeerTraffic> traffic_;        ///< by launch
    std::map<std::tuple<int, int, bool>, Copies> copies_; ///< from, to, whether directly
};

void to_json(Json& json, const AccessTrace& trace);
void from_json(const Json& json, AccessTrace& trace);

/// The data for pictures: {"record": "accesses", …an AccessTrace's members…}, of the first selected launch of
/// each kernel.
class AccessRecorder final : public Recorder {
public:
    explicit AccessRecorder(TraceOptions options) : options_(options) {}

    Watcher* begin(const ObservedLaunch& launch) override;
    std::vector<Json> end(const ObservedLaunch& launch) override;

private:
    const TraceOptions options_;
    std::set<std::string> recorded_;                 ///< kernels
    std::map<std::uint64_t, AccessTracing> tracing_; ///< by launch
};

} // namespace emulator

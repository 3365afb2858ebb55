/// \file
/// The data for pictures: {"record": "accesses", …an AccessTrace's members…}, of the first selected launch of
/// each kernel.
#pragma once

#include "emulator/observe/access_trace.hpp"
#include "emulator/session/recorder.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace emulator {

void to_json(Json& json, const AccessTrace& trace);
void from_json(const Json& json, AccessTrace& trace);

class AccessRecorder final : public Recorder {
public:
    explicit AccessRecorder(TraceOptions options) : options_(options) {}

    Watcher* begin(const ObservedLaunch& launch) override;
    std::vector<Json> end(const ObservedLaunch& launch) override;

private:
    const TraceOptions options_;
    std::set<std::string> recorded_; ///< kernels
    std::unique_ptr<AccessTracing> tracing_;
};

} // namespace emulator

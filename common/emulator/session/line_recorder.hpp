/// \file
/// Counters by source line: {"record": "lines", "kernel": "reduce3", "name": "reduce3(int const*, …)",
/// "functions": [{"function": …, "path": …, "first_line": 7, "lines": [{"line": 12, "counted": {"l1tex__…":
/// 8192, …}, "ideal": {…}}, …], "ptx": […]}, …]}, for each selected launch. Counters that are 0 are left out.
#pragma once

#include "emulator/observe/line_counts.hpp"
#include "emulator/session/recorder.hpp"

#include <optional>
#include <vector>

namespace emulator {

void to_json(Json& json, const FunctionLines& function);
void from_json(const Json& json, FunctionLines& function);

class LineRecorder final : public Recorder {
public:
    Watcher* begin(const ObservedLaunch& launch) override;
    std::vector<Json> end(const ObservedLaunch& launch) override;

private:
    std::optional<LineCounting> counting_;
};

} // namespace emulator

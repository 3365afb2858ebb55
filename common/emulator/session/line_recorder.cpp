#include "emulator/session/line_recorder.hpp"

#include "emulator/machine/loaded_module.hpp"
#include "emulator/program/names.hpp"

#include <nlohmann/json.hpp>

namespace emulator {

Watcher* LineRecorder::begin(const ObservedLaunch& launch) {
    if (!launch.selected) return nullptr;
    return &counting_.emplace();
}

std::vector<Json> LineRecorder::end(const ObservedLaunch& launch) {
    if (!counting_) return {};
    const std::string name = launch.kernel.readable_name();
    Json record{{"record", "lines"},
                {"kernel", short_name(name)},
                {"name", name},
                {"functions", counting_->functions()}};
    counting_.reset();
    return {std::move(record)};
}

} // namespace emulator

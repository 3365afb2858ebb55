#include "emulator/session/recorders.hpp"

#include "emulator/machine/loaded_module.hpp"
#include "emulator/program/names.hpp"

#include <nlohmann/json.hpp>

#include <utility>

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

Watcher* AccessRecorder::begin(const ObservedLaunch& launch) {
    if (!launch.selected || !recorded_.insert(launch.kernel.name()).second) return nullptr;
    tracing_ = std::make_unique<AccessTracing>(options_);
    return tracing_.get();
}

std::vector<Json> AccessRecorder::end(const ObservedLaunch& launch) {
    if (!tracing_) return {};
    const auto tracing = std::exchange(tracing_, nullptr);
    if (!tracing->trace().ran) { // it cannot be launched like this
        recorded_.erase(launch.kernel.name());
        return {};
    }
    Json record{{"record", "accesses"}};
    record.update(Json(tracing->trace()));
    return {std::move(record)};
}

} // namespace emulator

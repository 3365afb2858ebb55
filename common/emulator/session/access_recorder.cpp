#include "emulator/session/access_recorder.hpp"

#include "emulator/machine/loaded_module.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace emulator {

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

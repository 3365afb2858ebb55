#include "emulator/session/recorders.hpp"

#include "emulator/machine/loaded_module.hpp"
#include "emulator/program/names.hpp"

#include <nlohmann/json.hpp>

namespace emulator {

Watcher* LineRecorder::begin(const ObservedLaunch& launch) {
    if (!launch.selected) return nullptr;
    return &counting_[launch.number];
}

std::vector<Json> LineRecorder::end(const ObservedLaunch& launch) {
    const auto counting = counting_.extract(launch.number);
    if (!counting) return {};
    const std::string name = launch.kernel.readable_name();
    Json record{{"record", "lines"},
                {"kernel", short_name(name)},
                {"name", name},
                {"functions", counting.mapped().functions()}};
    return {std::move(record)};
}

Watcher* AccessRecorder::begin(const ObservedLaunch& launch) {
    if (!launch.selected || !recorded_.insert(launch.kernel.name()).second) return nullptr;
    return &tracing_.try_emplace(launch.number, options_).first->second;
}

std::vector<Json> AccessRecorder::end(const ObservedLaunch& launch) {
    const auto tracing = tracing_.extract(launch.number);
    if (!tracing) return {};
    if (!tracing.mapped().trace().ran) { // it cannot be launched like this
        recorded_.erase(launch.kernel.name());
        return {};
    }
    Json record{{"record", "accesses"}};
    record.update(Json(tracing.mapped().trace()));
    return {std::move(record)};
}

Watcher* PeerRecorder::begin(const ObservedLaunch& launch) {
    if (!launch.selected) return nullptr;
    return &traffic_[launch.number];
}

namespace {

/// null: the host.
Json number_of(int device) { return device == Allocation::on_host ? Json() : Json(device); }

} // namespace

std::vector<Json> PeerRecorder::end(const ObservedLaunch& launch) {
    const auto traffic = traffic_.extract(launch.number);
    if (!traffic || traffic.mapped().sectors().empty()) return {};
    Json record{{"record", "peers"}, {"peers", Json::array()}};
    for (const auto& [device, sectors] : traffic.mapped().sectors())
        record["peers"].push_back({{"device", number_of(device)},
                                   {"load_sectors", sectors.loads},
                                   {"store_sectors", sectors.stores},
                                   {"atomic_sectors", sectors.atomics}});
    return {std::move(record)};
}

void PeerRecorder::moved(int from, int to, std::size_t bytes, bool is_direct) {
    Copies& copies = copies_[{from, to, is_direct}];
    ++copies.count;
    copies.bytes += bytes;
}

std::vector<Json> PeerRecorder::finish() {
    if (copies_.empty()) return {};
    Json record{{"record", "copies"}, {"copies", Json::array()}};
    for (const auto& [which, copies] : copies_) {
        const auto [from, to, is_direct] = which;
        record["copies"].push_back({{"from", number_of(from)},
                                    {"to", number_of(to)},
                                    {"count", copies.count},
                                    {"bytes", copies.bytes},
                                    {"through_host", !is_direct}});
    }
    return {std::move(record)};
}

} // namespace emulator

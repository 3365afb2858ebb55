#include "harness/detail/counters.hpp"

#include "emulator/cuda_emulator.h"

#include <counter_catalogue.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <dlfcn.h>

namespace harness {
namespace {

/// Looked up at run time: only the emulator's libcudart exports them.
auto emulator_function() {
    return reinterpret_cast<decltype(&emulator_last_launch_counters)>(
        dlsym(RTLD_DEFAULT, "emulator_last_launch_counters"));
}
auto estimate_function() {
    return reinterpret_cast<decltype(&emulator_last_launch_estimate)>(
        dlsym(RTLD_DEFAULT, "emulator_last_launch_estimate"));
}

/// The catalogue's, with all labels of a row side by side.
std::vector<KnownCounter> counters_by_row() {
    const KnownCounter catalogue[] = {
#define KNOWN_COUNTER(id, name, row, label, is_rare) {name, row, label, is_rare},
        COUNTER_CATALOGUE(KNOWN_COUNTER)
#undef KNOWN_COUNTER
    };
    std::vector<KnownCounter> counters;
    for (const KnownCounter& counter : catalogue) {
        const auto same_row =
            std::find_if(counters.rbegin(), counters.rend(),
                         [&](const KnownCounter& other) { return other.group == counter.group; });
        counters.insert(same_row == counters.rend() ? counters.end() : same_row.base(), counter);
    }
    return counters;
}

} // namespace

const std::vector<KnownCounter>& known_counters() {
    static const std::vector<KnownCounter> counters = counters_by_row();
    return counters;
}

std::optional<std::uint64_t> find_counter(const Counters& counters, std::string_view name) {
    const auto found =
        std::find_if(counters.begin(), counters.end(), [&](const auto& c) { return c.first == name; });
    if (found == counters.end()) return std::nullopt;
    return found->second;
}

bool emulator_is_loaded() { return emulator_function() != nullptr; }

std::optional<Estimate> parse_estimate(const std::string& json) {
    const auto known = nlohmann::json::parse(json, nullptr, false);
    if (!known.is_object() || !known.contains("card")) return std::nullopt;
    Estimate estimate;
    estimate.json = json;
    estimate.card = known["card"];
    estimate.reason = known.value("no_estimate", "");
    const auto read = [&](const char* name, auto& member) {
        if (known.contains(name)) member = known[name];
    };
    read("time_us_estimated", estimate.time_us);
    std::optional<double> bytes, peak_gbs;
    if (known.contains("bytes") && known["bytes"].is_number()) bytes = known["bytes"];
    read("peak_bandwidth_gbs", peak_gbs);
    if (estimate.time_us && bytes && peak_gbs)
        estimate.peak_fraction = *bytes / *estimate.time_us / 1e3 / *peak_gbs;
    read("instructions_sm_90", estimate.instructions);
    read("data_pipe_passes", estimate.data_pipe_passes);
    if (const auto found = known.find("error_found"); found != known.end() && found->contains("most_percent"))
        estimate.error_found = fmt::format(
            "{}: {:.1f} % in the median, at most {:.0f} %", found->at("kernels").get<std::string>(),
            found->at("median_percent").get<double>(), found->at("most_percent").get<double>());
    return estimate;
}

std::optional<Estimate> last_launch_estimate(const char* no_time) {
    const auto read = estimate_function();
    const char* const json = read ? read() : nullptr;
    if (!json || !no_time) return json ? parse_estimate(json) : std::nullopt;
    auto known = nlohmann::json::parse(json);
    known.erase("time_us_estimated");
    known["no_estimate"] = no_time;
    return parse_estimate(known.dump());
}

Counters last_launch_counters() {
    const auto read = emulator_function();
    if (!read) return {};
    std::vector<emulator_counter> raw(read(nullptr, 0));
    raw.resize(std::min(raw.size(), read(raw.data(), raw.size())));
    Counters counters;
    for (const emulator_counter& counter : raw) counters.emplace_back(counter.name, counter.value);
    return counters;
}

} // namespace harness

#include "harness/detail/counters.hpp"

#include "emulator/cuda_emulator.h"

#include <counter_catalogue.hpp>

#include <algorithm>
#include <dlfcn.h>

namespace harness {
namespace {

using LastLaunchCounters = decltype(&emulator_last_launch_counters);

/// Looked up at run time: only the emulator's libcudart exports it.
LastLaunchCounters emulator_function() {
    return reinterpret_cast<LastLaunchCounters>(dlsym(RTLD_DEFAULT, "emulator_last_launch_counters"));
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

Counters last_launch_counters() {
    const LastLaunchCounters read = emulator_function();
    if (!read) return {};
    std::vector<emulator_counter> raw(read(nullptr, 0));
    raw.resize(std::min(raw.size(), read(raw.data(), raw.size())));
    Counters counters;
    for (const emulator_counter& counter : raw) counters.emplace_back(counter.name, counter.value);
    return counters;
}

} // namespace harness

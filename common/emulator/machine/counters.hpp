/// The counters of a kernel launch: those of common/counters.json, named as Nsight Compute names them.
#pragma once

#include <counter_catalogue.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace emulator {

enum class Metric : std::size_t {
#define COUNTER_ID(id, ...) id,
    COUNTER_CATALOGUE(COUNTER_ID)
#undef COUNTER_ID
        count
};

inline constexpr std::size_t metric_count = static_cast<std::size_t>(Metric::count);

/// Nsight Compute's name for `metric`, or our own `ptx__…` if it has none. Valid forever.
inline const char* metric_name(Metric metric) {
    static constexpr const char* names[] = {
#define COUNTER_NAME(id, name, ...) name,
        COUNTER_CATALOGUE(COUNTER_NAME)
#undef COUNTER_NAME
    };
    return names[static_cast<std::size_t>(metric)];
}

/// One number for each metric.
struct Counters {
    std::array<std::uint64_t, metric_count> values{};

    std::uint64_t& operator[](Metric metric) { return values[static_cast<std::size_t>(metric)]; }
    std::uint64_t operator[](Metric metric) const { return values[static_cast<std::size_t>(metric)]; }
    Counters& operator+=(const Counters& other) {
        for (std::size_t i = 0; i < metric_count; ++i) values[i] += other.values[i];
        return *this;
    }
    friend bool operator==(const Counters&, const Counters&) = default;
};

} // namespace emulator

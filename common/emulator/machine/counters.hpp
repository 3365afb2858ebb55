/// \file
/// The counters of a kernel launch, named as Nsight Compute names them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace emulator {

enum class Metric : std::size_t {
    global_load_sectors,
    global_store_sectors,
    global_load_requests,
    global_store_requests,
    global_atom_sectors,
    global_red_sectors,
    shared_load_wavefronts,
    shared_store_wavefronts,
    shared_load_bank_conflicts,
    shared_store_bank_conflicts,
    copy_instructions, ///< cp.async
    copy_wavefronts,
    bulk_instructions, ///< cp.async.bulk from global to shared memory
    bulk_sectors,
    warp_instructions,
    thread_instructions,
    divergent_branches,
    thread_barriers,
    count
};

inline constexpr std::size_t metric_count = static_cast<std::size_t>(Metric::count);

/// The name under which Nsight Compute shows `metric`; one of our own, `ptx__…`, where it has none. Lives for
/// ever.
const char* metric_name(Metric metric);

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

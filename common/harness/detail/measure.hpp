/// The core of every lesson: run a kernel, verify its result, count or time it.
#pragma once

#include "harness/detail/counters.hpp"
#include "harness/detail/launches.hpp"
#include "harness/device.hpp"
#include "harness/verification.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace harness {

/// How measure() runs a kernel.
struct MeasurePlan {
    bool verify_only = false;         ///< no times, no counters
    std::optional<unsigned int> runs; ///< default: default_timed_runs on a GPU, 1 on the emulator
};
inline constexpr unsigned int default_timed_runs = 50;
/// Without a planned number of runs, timing stops early once the runs have taken so many seconds together,
/// their verification included, after at least this many runs.
inline constexpr double enough_seconds_for_runs = 2;
inline constexpr std::size_t fewest_timed_runs = 3;

/// The size that a lesson's times are also estimated for.
inline constexpr std::size_t large_n = std::size_t{1} << 28;

/// Times of the counted launch, in microseconds.
struct Times {
    double median = 0;
    double min = 0;
    std::size_t runs = 0;
    bool cold_cache = false; ///< the L2 cache was flushed before each run
};

/// Whether so many runs, which took `seconds`, are enough.
/// \param planned the number of runs; nullopt: the default
bool is_timed_enough(std::size_t runs, double seconds, std::optional<unsigned int> planned);

/// \param microseconds not empty
Times summarize(std::vector<double> microseconds);

struct KernelResult {
    std::string name;
    LaunchConfiguration launch;
    Verification verification;
    std::optional<Times> times;                            ///< on a GPU
    std::optional<Times> complete_times = std::nullopt;    ///< of all passes, if `times` are of the first one
    std::optional<Counters> counters;                      ///< on the emulator
    std::optional<Estimate> estimate = std::nullopt;       ///< on the emulator, of the counted launch
    std::optional<Estimate> large_estimate = std::nullopt; ///< the same at large_n
    std::string illustration = {};                         ///< what KernelRun::illustrate was given

    /// Times of the complete result: of all passes, or of the only one. nullopt if only the first of several
    /// was timed.
    std::optional<Times> times_of_all_passes() const {
        return complete_times || launch.passes > 1 ? complete_times : times;
    }

    /// Effective bandwidth, in 1e9 bytes per second.
    std::optional<double> bandwidth_gbs() const;
};

/// Runs the steps several times, and stops after a wrong result. On a GPU the first run is the warm-up; on
/// the emulator it is the one that is counted. Only `launch` is counted and timed, each time with a cold L2
/// cache. \throws DeviceError if the device cannot run it
KernelResult measure(const Device& device, const MeasurePlan& plan, std::string name,
                     LaunchConfiguration configuration, const RunSteps& steps);

} // namespace harness

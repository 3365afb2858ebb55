/// \file
/// The core of every lesson: run a kernel, verify what it left, count it or time it.
#pragma once

#include "harness/counters.hpp"
#include "harness/device.hpp"
#include "harness/verification.hpp"

#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace harness {

/// The launch that is counted and timed.
struct LaunchShape {
    dim3 grid;
    dim3 block;
    std::size_t dynamic_shared_bytes = 0;
    std::uint64_t bytes = 0; ///< read and written by the algorithm: over time, the effective bandwidth
    std::size_t passes = 1;  ///< launches to the complete result; the first is the one counted and timed
};

/// What measure() is to do.
struct MeasurePlan {
    bool verify_only = false;     ///< no times, no counters
    std::optional<unsigned> runs; ///< default: default_timed_runs on a GPU, else 1
};
inline constexpr unsigned default_timed_runs = 50;
/// A kernel so slow that its runs took this long is timed no longer, after this many runs; unless the plan
/// says how many.
inline constexpr double enough_timed_microseconds = 2e6;
inline constexpr std::size_t fewest_timed_runs = 3;

/// Times of the counted launch, in microseconds.
struct Times {
    double median = 0;
    double min = 0;
    std::size_t runs = 0;
    bool cold_cache = false; ///< the L2 cache was flushed before each run
};

/// Whether a kernel whose runs took so long has been timed enough. \param planned none: the default
bool is_timed_enough(const std::vector<double>& microseconds, std::optional<unsigned> planned);

/// \param microseconds at least one
Times summarize(std::vector<double> microseconds);

struct KernelResult {
    std::string name;
    LaunchShape launch;
    Verification verification;
    std::optional<Times> times;                         ///< on a GPU
    std::optional<Times> complete_times = std::nullopt; ///< of all passes, where the first alone has times
    std::optional<Counters> counters;                   ///< on the emulator
    std::string illustration = {};                      ///< what Turn::illustrate was given

    /// Times of the complete result: of all passes, or of the one there is. None where only the first was
    /// timed.
    std::optional<Times> times_of_all_passes() const {
        return complete_times || launch.passes > 1 ? complete_times : times;
    }

    /// Effective bandwidth, in 1e9 bytes a second.
    std::optional<double> bandwidth_gbs() const;
};

/// One run of a kernel.
struct RunSteps {
    /// Makes each run like the first: restores in-place input, poisons outputs.
    std::function<void()> prepare;
    /// Launches the kernel, once, on the default stream.
    std::function<void()> launch;
    /// Finishes what is left to do, and compares with the reference.
    std::function<Verification()> verify;
    /// Launches what follows the first pass and leaves the complete result. Empty: nothing follows. Timed
    /// together with `launch` in runs of their own.
    std::function<void()> launch_rest = {};
};

/// Runs the steps several times, and stops after a run whose result is wrong. The first run is the warm-up on
/// a GPU, and the one that is counted on the emulator. Only the launch is counted and timed, and it is timed
/// with a cold L2 cache.
/// \throws DeviceError when the device cannot do it
KernelResult measure(const Device& device, const MeasurePlan& plan, std::string name, LaunchShape shape,
                     const RunSteps& steps);

} // namespace harness

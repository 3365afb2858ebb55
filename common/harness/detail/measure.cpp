#include "harness/detail/measure.hpp"

#include "harness/check.hpp"
#include "harness/cold_cache.hpp"
#include "harness/detail/observing.hpp"
#include "harness/streams.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace harness {
namespace {

/// Times launches, each with a cold L2 cache.
class Timer {
public:
    explicit Timer(const Device& device) : cache_(device.l2_bytes) {}

    bool has_cold_cache() const { return cache_.works(); }

    double microseconds(const std::string& name, Step launch) {
        // The host queues the launch while the device is still busy with the flush, so no gap is timed.
        cache_.flush();
        start_.record();
        launch();
        stop_.record();
        check_launch(name.c_str());
        synchronize(name.c_str());
        return stop_.microseconds_since(start_);
    }

private:
    ColdCache cache_;
    TimedEvent start_, stop_;
};

} // namespace

bool is_timed_enough(std::size_t runs, double seconds, std::optional<unsigned int> planned) {
    return runs >= planned.value_or(default_timed_runs) ||
           (!planned && runs >= fewest_timed_runs && seconds >= enough_seconds_for_runs);
}

Times summarize(std::vector<double> microseconds) {
    std::sort(microseconds.begin(), microseconds.end());
    const std::size_t middle = microseconds.size() / 2;
    const double median = microseconds.size() % 2 == 1
                              ? microseconds[middle]
                              : (microseconds[middle - 1] + microseconds[middle]) / 2;
    return {.median = median, .min = microseconds.front(), .runs = microseconds.size()};
}

std::optional<double> KernelResult::bandwidth_gbs() const {
    if (!times || times->median <= 0) return std::nullopt;
    return static_cast<double>(launch.bytes) / (times->median * 1e-6) / 1e9;
}

KernelResult measure(const Device& device, const MeasurePlan& plan, std::string name,
                     LaunchConfiguration configuration, const RunSteps& steps) {
    const bool emulated = device.kind == DeviceKind::emulator;
    const bool timed = !emulated && !plan.verify_only;
    KernelResult result{
        .name = std::move(name), .launch = configuration, .verification = {}, .times = {}, .counters = {}};

    if (only_estimates()) {
        steps.launch();
        check_launch(result.name.c_str());
        result.estimate = last_launch_estimate(configuration.no_estimate);
        result.verification.passed = true; // nothing is wrong
        return result;
    }
    const auto launch_all = [&] { steps.launch(), steps.launch_rest(); };
    const auto run_untimed = [&](Step launch) {
        steps.prepare();
        launch();
        check_launch(result.name.c_str());
        synchronize(result.name.c_str());
        // verify() may launch more kernels.
        if (emulated && !plan.verify_only) {
            result.counters = last_launch_counters();
            result.estimate = last_launch_estimate(configuration.no_estimate);
        }
        result.verification = steps.verify();
    };

    run_untimed(steps.launch);
    if (!timed) {
        const unsigned int runs = plan.runs.value_or(1);
        for (unsigned int run = 1; run < runs && result.verification.passed; ++run) {
            // The last one with all passes, as they are timed on a GPU.
            if (steps.launch_rest && run + 1 == runs)
                run_untimed(launch_all);
            else
                run_untimed(steps.launch);
        }
        return result;
    }
    Timer timer(device);
    const auto time = [&](Step launch) -> std::optional<Times> {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point start = Clock::now();
        const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
        std::vector<double> microseconds;
        while (!is_timed_enough(microseconds.size(), seconds(), plan.runs) && result.verification.passed) {
            steps.prepare();
            microseconds.push_back(timer.microseconds(result.name, launch));
            result.verification = steps.verify();
        }
        if (!result.verification.passed) return std::nullopt; // times of a wrong result are worthless
        Times times = summarize(std::move(microseconds));
        times.cold_cache = timer.has_cold_cache();
        return times;
    };
    result.times = time(steps.launch);
    if (result.times && steps.launch_rest) result.complete_times = time(launch_all);
    return result;
}

} // namespace harness

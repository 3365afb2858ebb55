#include "emulator/cuda_emulator.h"

#include "emulator/runtime/api_call.hpp"

#include <algorithm>

using namespace emulator;

EMULATOR_ENTRY std::size_t emulator_last_launch_counters(emulator_counter* counters, std::size_t capacity) {
    Runtime& runtime = Runtime::instance();
    const std::lock_guard lock(runtime.mutex);
    if (!runtime.last_launch) return 0;
    for (std::size_t i = 0; i < std::min(capacity, metric_count); ++i) {
        const auto metric = static_cast<Metric>(i);
        counters[i] = {metric_name(metric), (*runtime.last_launch)[metric]};
    }
    return metric_count;
}

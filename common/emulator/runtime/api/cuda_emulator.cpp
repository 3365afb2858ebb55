#include "emulator/cuda_emulator.h"

#include "emulator/runtime/api_call.hpp"
#include "emulator/runtime/observation.hpp"

#include <algorithm>

using namespace emulator;

EMULATOR_ENTRY std::size_t emulator_last_launch_counters(emulator_counter* counters, std::size_t capacity) {
    Runtime& runtime = Runtime::instance();
    const auto& last = runtime.last_launches[Runtime::current_device_number()].counters;
    if (api_call([](Device&) {}) != abi::cudaSuccess || !last) return 0;
    for (std::size_t i = 0; i < std::min(capacity, metric_count); ++i) {
        const auto metric = static_cast<Metric>(i);
        counters[i] = {metric_name(metric), (*last)[metric]};
    }
    return metric_count;
}

EMULATOR_ENTRY const char* emulator_last_launch_estimate() {
    const std::lock_guard lock(Runtime::instance().mutex);
    const Observation* const observation = Observation::instance();
    return observation && !observation->last_estimate().empty() ? observation->last_estimate().c_str()
                                                                : nullptr;
}

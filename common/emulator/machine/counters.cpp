#include "emulator/machine/counters.hpp"

namespace emulator {

const char* metric_name(Metric metric) {
    static constexpr const char* names[] = {
#define COUNTER_NAME(id, name, ...) name,
        COUNTER_CATALOGUE(COUNTER_NAME)
#undef COUNTER_NAME
    };
    return names[static_cast<std::size_t>(metric)];
}

} // namespace emulator

/// Operations that wait for their turn: with a schedule, those of streams run in any order that CUDA allows.
#pragma once

#include "emulator/machine/schedule.hpp"
#include "emulator/memory/operation_order.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace emulator {

struct Device;

/// Without a schedule it is always empty: each operation runs during its call.
class OperationQueue {
public:
    explicit OperationQueue(std::optional<std::uint64_t> seed) {
        constexpr std::uint64_t other_than_of_launches = 0x5EED;
        if (seed) schedule_.emplace(*seed ^ other_than_of_launches);
    }
    bool is_used() const { return schedule_.has_value(); }

    void add(Device& device, OperationOrder::Operation operation, std::function<void(Device&)> work);

    /// Runs what the clock knows, and maybe more.
    void run_until(const OperationOrder::Clock& clock);
    void run_all();

private:
    struct Waiting {
        Device* device;
        OperationOrder::Operation operation;
        std::function<void(Device&)> work;
    };
    void run_any();

    std::optional<Schedule> schedule_;
    std::vector<Waiting> waiting_; ///< in the order of the calls
};

} // namespace emulator

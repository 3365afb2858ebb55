#include "emulator/runtime/operation_queue.hpp"

#include "emulator/runtime/api_call.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace emulator {

namespace {

bool knows(const OperationOrder::Clock& clock, const OperationOrder::Operation& operation) {
    return OperationOrder::knows(clock, operation.stream, operation.number);
}

} // namespace

void OperationQueue::add(Device& device, OperationOrder::Operation operation,
                         std::function<void(Device&)> work) {
    waiting_.push_back({&device, std::move(operation), std::move(work)});
    device.memory.operations().set_waiting(waiting_.size());
}

void OperationQueue::run_until(const OperationOrder::Clock& clock) {
    while (std::any_of(waiting_.begin(), waiting_.end(),
                       [&](const Waiting& one) { return knows(clock, one.operation); }))
        run_any();
}

void OperationQueue::run_all() {
    while (!waiting_.empty()) run_any();
}

void OperationQueue::run_any() {
    std::vector<std::size_t> ready;
    for (std::size_t k = 0; k < waiting_.size(); ++k)
        if (std::none_of(
                waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(k),
                [&](const Waiting& other) { return knows(waiting_[k].operation.before, other.operation); }))
            ready.push_back(k);
    const std::size_t chosen = ready[schedule_->below(ready.size())];
    Waiting next = std::move(waiting_[chosen]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(chosen));
    next.device->memory.operations().set_waiting(waiting_.size());
    run_later(*next.device, std::move(next.operation), next.work);
}

} // namespace emulator

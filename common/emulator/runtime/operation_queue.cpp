#include "emulator/runtime/operation_queue.hpp"

#include "emulator/own_threads.hpp"
#include "emulator/runtime/api_call.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

namespace emulator {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t instructions_of_turn = 1'000'000; ///< on each host thread
constexpr int turns_of_call = 8;                          ///< of each operation, in a call that does not wait
constexpr int turns_of_end = 1000;                        ///< the same when the program ends
constexpr std::chrono::microseconds pause = 1ms;
constexpr auto quiet = 50ms;   ///< the host adds nothing more for now
constexpr auto patience = 30s; ///< with other host threads, which may launch what is waited for

bool knows(const OperationOrder::Clock& clock, const OperationOrder::Operation& operation) {
    return OperationOrder::knows(clock, operation.stream, operation.number);
}

/// Whether the program has only the calling thread.
bool is_only_thread() {
    std::error_code error;
    const std::filesystem::directory_iterator threads("/proc/self/task", error);
    return !error && std::distance(begin(threads), end(threads)) <= 1 + own_threads;
}

/// Unlocks the runtime for as long as this lives.
class LetOthersCall {
public:
    LetOthersCall() { Runtime::instance().mutex.unlock(); }
    ~LetOthersCall() { Runtime::instance().mutex.lock(); }
    LetOthersCall(const LetOthersCall&) = delete;
    LetOthersCall& operator=(const LetOthersCall&) = delete;
};

} // namespace

void OperationQueue::changed() {
    Runtime::instance().shared.memory.operations().set_waiting(waiting_.size());
}

void OperationQueue::add(Device& device, OperationOrder::Operation operation, OperationWork work) {
    waiting_.push_back({&device, std::move(operation), std::move(work)});
    added_ = std::chrono::steady_clock::now();
    changed();
}

bool OperationQueue::is_left(const OperationOrder::Clock& clock) const {
    return std::any_of(waiting_.begin(), waiting_.end(),
                       [&](const Waiting& one) { return knows(clock, one.operation); });
}

// ---- turns ----

bool OperationQueue::run_one() {
    std::vector<std::size_t> ready;
    for (std::size_t k = 0; k < waiting_.size(); ++k) {
        Waiting& one = waiting_[k];
        if (one.launch && one.launch->spins()) continue;
        if (std::none_of(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(k),
                         [&](const Waiting& other) { return knows(one.operation.before, other.operation); }))
            ready.push_back(k);
    }
    if (ready.empty()) return false;
    run_turn(schedule_ ? ready[schedule_->below(ready.size())]
                       : *std::min_element(ready.begin(), ready.end(), [&](std::size_t a, std::size_t b) {
                             return waiting_[a].turns < waiting_[b].turns;
                         }));
    return true;
}

void OperationQueue::run_turn(std::size_t which) {
    Waiting& now = waiting_[which];
    Device& device = *now.device;
    OperationOrder& order = device.memory.operations();
    order.resume(std::move(now.operation));
    bool has_ended = true;
    remember_outcome(device, [&](Device& then) {
        if (!now.work.begin) return now.work.work(then);
        if (!now.launch) now.launch = now.work.begin(then);
        has_ended = now.launch->run_for(instructions_of_turn);
    });
    ++now.turns;
    ++turns_;
    if (!has_ended) {
        now.operation = order.pause();
        return;
    }
    now.launch.reset();
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
    changed();
    device.memory.operation_ends();
    if (Runtime::instance().fault != abi::cudaSuccess) drop_all();
}

void OperationQueue::drop_all() {
    for (Waiting& one : std::exchange(waiting_, {})) {
        OperationOrder& order = one.device->memory.operations();
        order.resume(std::move(one.operation));
        one.launch.reset();
        one.device->memory.operation_ends();
    }
    changed();
}

// ---- calls that do not wait ----

void OperationQueue::run_some() {
    for (std::size_t left = turns_of_call * waiting_.size(); left > 0 && run_one(); --left) {
    }
}

bool OperationQueue::run_some_until(const OperationOrder::Clock& clock) {
    for (std::size_t left = turns_of_call * waiting_.size(); left > 0 && is_left(clock) && run_one();
         --left) {
    }
    return !is_left(clock);
}

// ---- calls that wait ----

void OperationQueue::run_until(const OperationOrder::Clock& clock) {
    while (is_left(clock)) run_or_wait();
}

void OperationQueue::run_all() {
    while (!waiting_.empty()) run_or_wait();
}

void OperationQueue::finish() {
    for (std::size_t left = turns_of_end * waiting_.size(); left > 0 && run_one(); --left) {
    }
    drop_all();
}

void OperationQueue::run_or_wait() {
    if (run_one())
        let_others_call();
    else
        wait_for_others();
}

void OperationQueue::let_others_call() {
    if (Runtime::instance().callers == 0) return;
    const LetOthersCall others;
    std::this_thread::sleep_for(pause / 10);
}

void OperationQueue::wait_for_others() {
    const auto now = std::chrono::steady_clock::now();
    if (std::exchange(turns_when_waiting_, turns_) != turns_) waits_since_ = now;
    if (is_only_thread() || now - waits_since_ > patience) fail();
    const LetOthersCall others;
    std::this_thread::sleep_for(pause);
}

void OperationQueue::fail() {
    std::string message;
    for (const Waiting& one : waiting_) {
        if (!one.launch) continue;
        const std::string place = one.launch->place();
        message += one.operation.what + " in " + one.device->memory.operations().name(one.operation.stream) +
                   " would wait forever" + (place.empty() ? "" : ":\n    " + place) + "\n";
    }
    drop_all();
    Runtime::instance().fault = abi::cudaErrorLaunchFailure;
    throw ApiError(abi::cudaErrorLaunchFailure,
                   message +
                       "Nothing that runs or may begin stores what it waits for. It may only wait for a "
                       "kernel that is launched\nbefore the program waits for either, in another stream or "
                       "on another device.");
}

void OperationQueue::run_in_background() {
    if (has_thread_ || waiting_.empty()) return;
    has_thread_ = true;
    start_own_thread([this] {
        std::unique_lock lock(Runtime::instance().mutex);
        while (!waiting_.empty()) {
            // What a schedule chooses from must not depend on how fast the host adds operations.
            const bool may_come = schedule_ && std::chrono::steady_clock::now() - added_ < quiet;
            const bool runs = !may_come && run_one();
            lock.unlock();
            if (runs)
                std::this_thread::yield();
            else
                std::this_thread::sleep_for(pause);
            lock.lock();
        }
        has_thread_ = false;
    });
}

} // namespace emulator

/// Operations that have not ended when their call returns: launches that wait for others, what comes after them, and
/// with a schedule, what runs later than it was called.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/machine/schedule.hpp"
#include "emulator/memory/operation_order.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace emulator {

struct Device;

/// How an operation runs. One of the two is set.
struct OperationWork {
    std::function<void(Device&)> work{}; ///< at once
    /// Piece by piece: a kernel.
    std::function<std::unique_ptr<RunningLaunch>(Device&)> begin{};
};

/// Usually it is empty: operations run during their calls. Operations that nothing orders take turns here, each for
/// some instructions. One that only spins is passed over until something has changed what it reads. All calls hold the lock
/// of the runtime, and those that wait let others in between two turns.
class OperationQueue {
public:
    explicit OperationQueue(std::optional<std::uint64_t> seed) {
        constexpr std::uint64_t other_than_of_launches = 0x5EED;
        if (seed) schedule_.emplace(*seed ^ other_than_of_launches);
    }
    /// Operations run in any order that CUDA allows, not in that of the calls.
    bool has_schedule() const { return schedule_.has_value(); }
    bool is_empty() const { return waiting_.empty(); }

    void add(Device& device, OperationOrder::Operation operation, OperationWork work);

    /// Gives each operation that is ready some turns, for a call that does not wait.
    void run_some();
    /// The same, until what the clock knows has ended; returns whether it has.
    bool run_some_until(const OperationOrder::Clock& clock);

    /// Runs what the clock knows, and maybe more. \throws ApiError if that cannot end: everything that is left, and
    /// what it waits for, only spins.
    void run_until(const OperationOrder::Clock& clock);
    void run_all();

    /// The program ends, or a part of it: runs what gets on, and drops what only waits.
    void finish();

    /// Goes on on another thread for as long as something is left: the host may wait for that without a call, or store
    /// what it waits for.
    void run_in_background();

private:
    struct Waiting {
        Device* device;
        OperationOrder::Operation operation;
        OperationWork work;
        std::unique_ptr<RunningLaunch> launch{}; ///< that has begun
        std::uint64_t turns = 0;                 ///< that it has had
    };
    bool is_left(const OperationOrder::Clock& clock) const;
    /// One turn of one operation that is ready. Returns false if there is none that does not just spin.
    bool run_one();
    void run_turn(std::size_t which);
    void run_or_wait();
    void let_others_call();
    /// \throws ApiError when nobody is left who could end the wait.
    void wait_for_others();
    [[noreturn]] void fail();
    void drop_all();
    void changed();

    std::optional<Schedule> schedule_;
    std::vector<Waiting> waiting_;                  ///< in the order of the calls
    std::chrono::steady_clock::time_point added_{}; ///< when the latest was
    bool has_thread_ = false;                       ///< see run_in_background()
    std::uint64_t turns_ = 0;                       ///< in all
    std::uint64_t turns_when_waiting_ = 0; ///< when it last had to wait for others; and since when it does
    std::chrono::steady_clock::time_point waits_since_{};
};

} // namespace emulator

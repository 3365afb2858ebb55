/// Shows the progress of a long launch.
#pragma once

#include "emulator/machine/finding.hpp"
#include "emulator/machine/observer.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace emulator {

/// After two seconds, shows on stderr how far the launch is, if stderr is a terminal, and erases that line at
/// the end. Also calls `every_second` during a launch, with one thread and its line once known. One per
/// process, never destroyed, since its thread never ends.
class LaunchProgress {
public:
    LaunchProgress();

    using EverySecond = std::function<void(const std::optional<Party>& somebody)>;

    /// A launch in progress.
    class Launch final : public Watcher {
    public:
        Launch(LaunchProgress& progress, std::string kernel, std::uint64_t blocks, EverySecond every_second)
            : progress_(progress), kernel_(std::move(kernel)), blocks_(blocks),
              every_second_(std::move(every_second)) {}
        ~Launch() override;
        Launch(const Launch&) = delete;
        Launch& operator=(const Launch&) = delete;

        /// From now on it is the one that is shown.
        void goes_on();

        std::unique_ptr<Observer> observer(const Grid& launch) override;

    private:
        friend class LaunchProgress;
        class Watch;

        LaunchProgress& progress_;
        const std::string kernel_;
        const std::uint64_t blocks_;
        const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
        const EverySecond every_second_;
        std::optional<Party> somebody_;       ///< guarded by the mutex of all
        std::atomic<bool> asks_{false};       ///< where the threads are; most end before anybody looks
        std::atomic<std::uint64_t> ended_{0}; ///< blocks
    };

private:
    void tick();

    std::mutex mutex_; // guards what follows
    Launch* shown_ = nullptr;
    bool told_ = false;
};

} // namespace emulator

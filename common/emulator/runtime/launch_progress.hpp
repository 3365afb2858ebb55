/// \file
/// A sign of life from a launch that takes long.
#pragma once

#include "emulator/observe/observer.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace emulator {

/// From two seconds on, tells on stderr how far the launch is; then wipes that line away. Also calls
/// `every_second` while a launch runs. One for a process, which never ends: its thread does not either.
class LaunchProgress final : public Watcher {
public:
    LaunchProgress();

    void begin(std::string kernel, std::uint64_t blocks, std::function<void()> every_second);
    void end();

    /// Whether there is a terminal to tell it on. Else it need not watch the launch.
    static bool is_shown();
    std::unique_ptr<Observer> observer(const Launch& launch) override;

private:
    void tick();

    std::mutex mutex_; // guards what follows
    bool runs_ = false, told_ = false;
    std::string kernel_;
    std::uint64_t blocks_ = 0;
    std::chrono::steady_clock::time_point start_;
    std::function<void()> every_second_;
    std::atomic<std::uint64_t> ended_{0}; ///< blocks
};

} // namespace emulator

/// \file
/// A sign of life from a launch that takes long.
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

namespace emulator {

/// From two seconds on, tells on stderr how far the launch is, if there is a terminal; then wipes that line
/// away. Also calls `every_second` while a launch runs, with a thread and where it is once that is known. One
/// for a process, which never ends: its thread does not either.
class LaunchProgress final : public Watcher {
public:
    LaunchProgress();

    using EverySecond = std::function<void(const std::optional<Party>& somebody)>;

    void begin(std::string kernel, std::uint64_t blocks, EverySecond every_second);
    void end();

    std::unique_ptr<Observer> observer(const Grid& launch) override;

private:
    class Watch;

    void tick();

    std::mutex mutex_; // guards what follows
    bool runs_ = false, told_ = false;
    std::string kernel_;
    std::uint64_t blocks_ = 0;
    std::chrono::steady_clock::time_point start_;
    EverySecond every_second_;
    std::optional<Party> somebody_;
    std::atomic<bool> asks_{false};       ///< where the threads are
    std::atomic<std::uint64_t> ended_{0}; ///< blocks
};

} // namespace emulator

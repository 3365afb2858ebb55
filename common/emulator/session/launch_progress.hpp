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

namespace emulator {

/// After two seconds, shows on stderr how far the launch is, if stderr is a terminal, and erases that line at
/// the end. Also calls `every_second` during a launch, with one thread and its line once known. One per
/// process, never destroyed, since its thread never ends.
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

/// \file
/// A sign of life from a launch that takes long.
#pragma once

#include "emulator/observe/observer.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace emulator {

/// While it lives, once a second calls `every_second`, from a thread of its own; and from two seconds on
/// tells on stderr how far the launch is, then wipes that line away.
class LaunchProgress final : public Watcher {
public:
    /// Whether there is a terminal to tell it on. Else it need not watch.
    static bool is_shown();

    LaunchProgress(std::string kernel, std::uint64_t blocks, std::function<void()> every_second);
    ~LaunchProgress() override;
    LaunchProgress(const LaunchProgress&) = delete;
    LaunchProgress& operator=(const LaunchProgress&) = delete;

    std::unique_ptr<Observer> observer(const Launch& launch) override;

private:
    void run(const std::stop_token& stop);

    std::string kernel_;
    std::uint64_t blocks_;
    std::function<void()> every_second_;
    std::atomic<std::uint64_t> ended_{0};
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_; // last: it uses the others, and is joined first
};

} // namespace emulator

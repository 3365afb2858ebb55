#include "harness/detail/progress.hpp"

#include "harness/detail/observing.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>

namespace harness {

/// Needs its own thread: the program's is busy or waits for the device.
struct Progress::Clock {
    explicit Clock(std::string what)
        : thread([this, text = std::move(what)](const std::stop_token& stop) { run(stop, text); }) {}

    void run(const std::stop_token& stop, const std::string& what) {
        using namespace std::chrono_literals;
        std::unique_lock lock(mutex);
        for (int seconds = 2;; ++seconds) {
            wake.wait_for(lock, stop, seconds == 2 ? 2s : 1s, [] { return false; });
            if (stop.stop_requested()) break;
            fmt::print(stderr, "\r{} ... {} s", what, seconds);
            std::fflush(stderr);
            told = true;
        }
        if (told) fmt::print(stderr, "\r\x1b[K");
    }

    std::mutex mutex;
    std::condition_variable_any wake;
    bool told = false;
    std::jthread thread; // last member: it uses the others, so it must be joined first
};

Progress::Progress(std::string what) {
    if (isatty(STDERR_FILENO) && !is_observed()) clock_ = std::make_unique<Clock>(std::move(what));
}

Progress::~Progress() = default;

} // namespace harness

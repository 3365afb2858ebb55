#include "emulator/runtime/launch_progress.hpp"

#include "emulator/text.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace emulator {
namespace {

class CountsEndedBlocks final : public Observer {
public:
    explicit CountsEndedBlocks(std::atomic<std::uint64_t>& ended) : ended_(ended) {}
    void block_ended(Block&) override { ended_.fetch_add(1, std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t>& ended_;
};

/// Starts a thread that gets none of the program's signals.
template <class Run> std::jthread thread_without_signals(Run run) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::jthread thread(std::move(run));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

} // namespace

bool LaunchProgress::is_shown() { return isatty(STDERR_FILENO) != 0; }

LaunchProgress::LaunchProgress(std::string kernel, std::uint64_t blocks, std::function<void()> every_second)
    : kernel_(std::move(kernel)), blocks_(blocks), every_second_(std::move(every_second)),
      thread_(thread_without_signals([this](const std::stop_token& stop) { run(stop); })) {}

LaunchProgress::~LaunchProgress() = default;

std::unique_ptr<Observer> LaunchProgress::observer(const Launch&) {
    return std::make_unique<CountsEndedBlocks>(ended_);
}

void LaunchProgress::run(const std::stop_token& stop) {
    using namespace std::chrono_literals;
    const bool shown = is_shown();
    bool told = false;
    std::unique_lock lock(mutex_);
    for (int seconds = 1;; ++seconds) {
        wake_.wait_for(lock, stop, 1s, [] { return false; });
        if (stop.stop_requested()) break;
        every_second_();
        if (!shown || seconds < 2) continue;
        std::fprintf(stderr, "\r%s: %s of %s blocks ... %d s", kernel_.c_str(), thousands(ended_).c_str(),
                     thousands(blocks_).c_str(), seconds);
        std::fflush(stderr);
        told = true;
    }
    if (told) std::fprintf(stderr, "\r\x1b[K");
}

} // namespace emulator

#include "emulator/runtime/launch_progress.hpp"

#include "emulator/text.hpp"

#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace emulator {
namespace {

using namespace std::chrono_literals;

class CountsEndedBlocks final : public Observer {
public:
    explicit CountsEndedBlocks(std::atomic<std::uint64_t>& ended) : ended_(ended) {}
    void block_ended(Block&) override { ended_.fetch_add(1, std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t>& ended_;
};

} // namespace

LaunchProgress::LaunchProgress() {
    sigset_t all, before; // the program's signals are not for this thread
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] {
        for (;;) {
            std::this_thread::sleep_for(1s);
            tick();
        }
    }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void LaunchProgress::begin(std::string kernel, std::uint64_t blocks, std::function<void()> every_second) {
    const std::lock_guard lock(mutex_);
    kernel_ = std::move(kernel);
    blocks_ = blocks;
    every_second_ = std::move(every_second);
    start_ = std::chrono::steady_clock::now();
    ended_ = 0;
    runs_ = true;
}

void LaunchProgress::end() {
    const std::lock_guard lock(mutex_);
    if (told_) std::fputs("\r\x1b[K", stderr);
    runs_ = told_ = false;
}

bool LaunchProgress::is_shown() { return isatty(STDERR_FILENO) != 0; }

std::unique_ptr<Observer> LaunchProgress::observer(const Launch&) {
    return std::make_unique<CountsEndedBlocks>(ended_);
}

void LaunchProgress::tick() {
    const std::lock_guard lock(mutex_);
    if (!runs_) return;
    every_second_();
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
    if (elapsed < 2s || !is_shown()) return;
    std::fprintf(stderr, "\r%s: %s of %s blocks ... %lld s", kernel_.c_str(), thousands(ended_).c_str(),
                 thousands(blocks_).c_str(), static_cast<long long>(elapsed.count()));
    std::fflush(stderr);
    told_ = true;
}

} // namespace emulator

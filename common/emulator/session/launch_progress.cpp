#include "emulator/session/launch_progress.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/own_threads.hpp"
#include "emulator/text.hpp"

#include <cstdio>
#include <thread>
#include <unistd.h>
#include <utility>

namespace emulator {
namespace {

using namespace std::chrono_literals;

} // namespace

class LaunchProgress::Launch::Watch final : public Observer {
public:
    explicit Watch(Launch& launch) : launch_(launch) {}

    bool wants(EventKind kind) const override { return kind == EventKind::turn; }
    void block_ended(Block&) override { launch_.ended_.fetch_add(1, std::memory_order_relaxed); }

    void turn_ended(const Block& block, const TurnCounts&) override {
        if (!launch_.asks_.load(std::memory_order_relaxed)) return;
        const std::lock_guard lock(launch_.progress_.mutex_);
        if (auto somebody = running_thread("was at", block)) {
            launch_.somebody_ = std::move(somebody);
            launch_.asks_ = false;
        }
    }

private:
    Launch& launch_;
};

LaunchProgress::LaunchProgress() {
    start_own_thread([this] {
        for (;;) {
            std::this_thread::sleep_for(1s);
            tick();
        }
    });
}

void LaunchProgress::Launch::goes_on() {
    const std::lock_guard lock(progress_.mutex_);
    progress_.shown_ = this;
}

LaunchProgress::Launch::~Launch() {
    const std::lock_guard lock(progress_.mutex_);
    if (progress_.told_) std::fputs("\r\x1b[K", stderr);
    progress_.told_ = false;
    if (progress_.shown_ == this) progress_.shown_ = nullptr;
}

std::unique_ptr<Observer> LaunchProgress::Launch::observer(const Grid&) {
    return std::make_unique<Watch>(*this);
}

void LaunchProgress::tick() {
    const std::lock_guard lock(mutex_);
    if (!shown_) return;
    Launch& launch = *shown_;
    launch.every_second_(launch.somebody_);
    launch.asks_ = true;
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - launch.start_);
    if (elapsed < 2s || isatty(STDERR_FILENO) == 0) return;
    std::fprintf(stderr, "\r%s: %s of %s blocks ... %lld s", launch.kernel_.c_str(),
                 thousands(launch.ended_).c_str(), thousands(launch.blocks_).c_str(),
                 static_cast<long long>(elapsed.count()));
    std::fflush(stderr);
    told_ = true;
}

} // namespace emulator

#include "emulator/session/launch_progress.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/text.hpp"

#include <bit>
#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace emulator {
namespace {

using namespace std::chrono_literals;

/// A thread that is not joined.
std::optional<Party> somebody_of(const Block& block) {
    const auto at = [&](const Warp& warp, const ConvergenceGroup& converged) -> std::optional<Party> {
        if (converged.lanes == 0 || converged.wait != Wait::nothing) return std::nullopt;
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(converged.lanes));
        return party(
            "was at", *converged.frame->code, converged.pc, block.index(),
            coordinates(std::uint64_t{warp.index()} * warp_size + lane, block.grid().configuration.block));
    };
    for (const auto& warp : block.warps()) {
        if (warp->finished()) continue;
        if (auto somebody = at(*warp, warp->running())) return somebody;
        for (const ConvergenceGroup& converged : warp->others())
            if (auto somebody = at(*warp, converged)) return somebody;
    }
    return std::nullopt;
}

} // namespace

class LaunchProgress::Watch final : public Observer {
public:
    explicit Watch(LaunchProgress& progress) : progress_(progress) {}

    bool wants(EventKind kind) const override { return kind == EventKind::turn; }
    void block_ended(Block&) override { progress_.ended_.fetch_add(1, std::memory_order_relaxed); }

    void turn_ended(const Block& block, const TurnCounts&) override {
        if (!progress_.asks_.load(std::memory_order_relaxed)) return;
        const std::lock_guard lock(progress_.mutex_);
        if (auto somebody = somebody_of(block)) {
            progress_.somebody_ = std::move(somebody);
            progress_.asks_ = false;
        }
    }

private:
    LaunchProgress& progress_;
};

LaunchProgress::LaunchProgress() {
    sigset_t all, before; // keep the program's signals from this thread
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

void LaunchProgress::begin(std::string kernel, std::uint64_t blocks, EverySecond every_second) {
    const std::lock_guard lock(mutex_);
    kernel_ = std::move(kernel);
    blocks_ = blocks;
    every_second_ = std::move(every_second);
    start_ = std::chrono::steady_clock::now();
    ended_ = 0;
    somebody_.reset();
    asks_ = false; // most launches end before anybody looks
    runs_ = true;
}

void LaunchProgress::end() {
    const std::lock_guard lock(mutex_);
    if (told_) std::fputs("\r\x1b[K", stderr);
    runs_ = told_ = false;
}

std::unique_ptr<Observer> LaunchProgress::observer(const Grid&) { return std::make_unique<Watch>(*this); }

void LaunchProgress::tick() {
    const std::lock_guard lock(mutex_);
    if (!runs_) return;
    every_second_(somebody_);
    asks_ = true;
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
    if (elapsed < 2s || isatty(STDERR_FILENO) == 0) return;
    std::fprintf(stderr, "\r%s: %s of %s blocks ... %lld s", kernel_.c_str(), thousands(ended_).c_str(),
                 thousands(blocks_).c_str(), static_cast<long long>(elapsed.count()));
    std::fflush(stderr);
    told_ = true;
}

} // namespace emulator

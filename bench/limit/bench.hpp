/// Times contenders against each other: the same input, the same stream, one run of each in turn.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "../median.hpp"
#include "harness/check.hpp"
#include "harness/cold_cache.hpp"
#include "harness/device.hpp"
#include "harness/device_buffer.hpp"

namespace limit {

/// Something that is timed. \param launch queues it on the default stream; leaves the sum in *result, where
/// it sums
struct Contender {
    std::string name;
    std::function<void()> launch;
    bool sums = true; ///< its result is to be verified
};

enum class Mode {
    cold,         ///< the L2 cache flushed by reading, before each run
    warm,         ///< right after an untimed run of the same contender on the same input
    back_to_back, ///< calls one after the other, as fast as the host queues them: the time of one
};

inline const char* name_of(Mode mode) {
    return mode == Mode::cold ? "cold" : mode == Mode::warm ? "warm" : "back_to_back";
}

/// Keeps the device busy, so that the host has queued all of a run before it begins.
void hold_device(long long cycles); // in the file that is compiled for the device

inline constexpr int calls_back_to_back = 20;
inline constexpr long long hold_cycles = 80'000; // about 40 us

class Bench {
public:
    /// On the emulator nothing is flushed and nothing is held: its times mean nothing, its results do.
    explicit Bench(const harness::Device& device)
        : is_gpu_(device.kind == harness::DeviceKind::gpu),
          cache_(is_gpu_ ? std::max(device.l2_bytes, std::size_t{128} << 20) : 0) { // It flushes twice that.
        HARNESS_CHECK(cudaEventCreate(&start_));
        HARNESS_CHECK(cudaEventCreate(&stop_));
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;
    ~Bench() {
        cudaEventDestroy(start_);
        cudaEventDestroy(stop_);
    }

    int* result() { return result_.data(); }

    /// Microseconds of each contender's runs. Ends the program when a result is wrong.
    std::vector<std::vector<double>> time(const std::vector<Contender>& contenders, Mode mode, int runs,
                                          int expected) {
        std::vector<std::vector<double>> times(contenders.size());
        for (int run = -1; run < runs; ++run) { // the first one is the warm-up
            for (std::size_t i = 0; i < contenders.size(); ++i) {
                const std::size_t which = (i + static_cast<std::size_t>(run + 1)) % contenders.size();
                const double microseconds = time_once(contenders[which], mode, expected);
                if (run >= 0) times[which].push_back(microseconds);
            }
        }
        return times;
    }

private:
    void hold() const {
        if (is_gpu_) hold_device(hold_cycles);
    }

    double time_once(const Contender& contender, Mode mode, int expected) {
        result_.poison();
        if (mode == Mode::cold) {
            cache_.flush();
        } else {
            hold();
            contender.launch();
            result_.poison();
            hold();
        }
        const int calls = mode == Mode::back_to_back ? calls_back_to_back : 1;
        HARNESS_CHECK(cudaEventRecord(start_));
        for (int call = 0; call < calls; ++call) contender.launch();
        HARNESS_CHECK(cudaEventRecord(stop_));
        harness::check_launch(contender.name.c_str());
        harness::synchronize(contender.name.c_str());
        const int actual = result_.read().front();
        if (contender.sums && actual != expected) {
            std::fprintf(stderr, "%s: wrong result: expected %d, got %d\n", contender.name.c_str(), expected,
                         actual);
            std::exit(1);
        }
        float milliseconds = 0;
        HARNESS_CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
        return milliseconds * 1e3 / calls;
    }

    bool is_gpu_;
    harness::ColdCache cache_;
    harness::DeviceBuffer<int> result_{1};
    cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

} // namespace limit

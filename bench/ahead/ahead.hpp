/// Times ours beside a library's, one run of each in turn on the same stream, and prints a table:
///
///     case,n,mode,ours_us,rival,rival_us,ratio,verified
///
/// The ratio is how many times as fast ours is: above 1 it is ahead. Times are medians, in microseconds, of everything
/// that a call queues: the zeroing of a state, too.
///
/// In trials two launches took 0.9 us more at half of the places in the queue, with a period of 12 launches. We do not
/// know why. Turns of as many launches would give one side all of the slow places, so a random number of launches comes
/// before each call.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../median.hpp"
#include "harness/cold_cache.hpp"
#include "harness/device.hpp"
#include "harness/streams.hpp"

namespace ahead {

static __global__ void nothing() {}

struct Contender {
    std::string name;
    std::function<void()> launch;   ///< queues one call on the default stream
    std::function<void()> poison;   ///< spoils its results, so that an old one is not taken for a new one
    std::function<bool()> is_right; ///< compares its results with what is expected
};

class Table {
public:
    /// On the emulator nothing is flushed: its times mean nothing, its results do. \param runs timed ones of each
    Table(const harness::Device& device, int runs)
        : cache_(device.kind == harness::DeviceKind::gpu ? std::max(device.l2_bytes, std::size_t{256} << 20)
                                                         : 0),
          runs_(runs) {
        std::printf("case,n,mode,ours_us,rival,rival_us,ratio,verified\n");
    }

    /// Two rows: `cold`, with the L2 cache flushed by reading, and `warm`, after an untimed run of the same. Ends the
    /// program when a result is wrong.
    void compare(const std::string& what, std::size_t n, const Contender& ours, const Contender& rival) {
        for (const Contender* one : {&ours, &rival}) verify(what, n, *one);
        for (const bool cold : {true, false}) {
            std::array<std::vector<double>, 2> times;
            for (int run = -2; run < runs_; ++run) { // the first two are the warm-up
                for (const std::size_t turn : {0, 1}) {
                    const std::size_t which = (turn + static_cast<std::size_t>(run + 2)) % 2;
                    const double time = time_once(which == 0 ? ours : rival, cold);
                    if (run >= 0) times[which].push_back(time);
                }
            }
            const double us = median(times[0]), rival_us = median(times[1]);
            std::printf("%s,%zu,%s,%.3f,%s,%.3f,%.4f,true\n", what.c_str(), n, cold ? "cold" : "warm", us,
                        rival.name.c_str(), rival_us, rival_us / us);
            std::fflush(stdout);
        }
        for (const Contender* one : {&ours, &rival})
            verify(what, n, *one); // A state that a call left behind shows now.
    }

private:
    static void verify(const std::string& what, std::size_t n, const Contender& one) {
        one.poison();
        one.launch();
        harness::check_launch(one.name.c_str());
        harness::synchronize(one.name.c_str());
        if (one.is_right()) return;
        std::fprintf(stderr, "%s, n = %zu: the result of %s is wrong\n", what.c_str(), n, one.name.c_str());
        std::exit(1);
    }

    double time_once(const Contender& one, bool cold) {
        for (std::uint64_t launches = random_() % 12; launches > 0; --launches) nothing<<<1, 32>>>();
        cache_.flush(); // Keeps the device busy, too, until all of the call is queued.
        if (!cold) one.launch();
        start_.record();
        one.launch();
        stop_.record();
        harness::check_launch(one.name.c_str());
        harness::synchronize(one.name.c_str());
        return stop_.microseconds_since(start_);
    }

    harness::ColdCache cache_;
    int runs_;
    std::minstd_rand random_;
    harness::TimedEvent start_, stop_;
};

} // namespace ahead

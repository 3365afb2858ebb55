/// The threads that the emulator has beside those of the program, and that outlast a call.
#pragma once

#include <atomic>
#include <csignal>
#include <thread>
#include <utility>

namespace emulator {

inline std::atomic<int> own_threads{0};

/// Starts one. It gets none of the program's signals.
template <class Body> void start_own_thread(Body body) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ++own_threads;
    std::thread([body = std::move(body)] {
        body();
        --own_threads;
    }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace emulator

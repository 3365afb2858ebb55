/// \file
/// The observer that keeps the counters.
#pragma once

#include "emulator/machine/counters.hpp"
#include "emulator/machine/memory_traffic.hpp"
#include "emulator/machine/observer.hpp"

namespace emulator {

/// The metric of the sectors that accesses of this kind to global memory take.
Metric global_sectors(AccessKind kind);

/// Adds what a memory request costs.
void count_access(Counters& counters, const Instruction& instruction, const Access& access);

/// Adds what a copy to shared memory costs. A cp.async is a request of loads as well; a bulk copy is not.
void count_copy(Counters& counters, const AsyncCopy& copy);

/// Adds what it would cost if its bytes lay side by side and no two lanes wanted different words of one bank.
void count_ideal_copy(Counters& ideal, const AsyncCopy& copy);

/// Counts what one host thread runs. Aligned to a cache line, so that threads do not wait for each other's
/// counters.
class alignas(64) Counting final : public Observer {
public:
    bool wants(EventKind kind) const override { return kind == EventKind::turn || is_access(kind); }
    void turn_ended(const Block& block, const TurnCounts& executed) override;
    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override;
    void copy_started(const AsyncCopy& copy) override { count_copy(counters_, copy); }
    void diverged(const Warp& warp, const Instruction& instruction, LaneMask active, LaneMask taken) override;

    const Counters& counters() const { return counters_; }

private:
    Counters counters_;
    LastWavefronts last_wavefronts_;
};

} // namespace emulator

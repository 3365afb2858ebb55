/// The observer that keeps the counters.
#pragma once

#include "emulator/machine/counters.hpp"
#include "emulator/machine/memory_traffic.hpp"
#include "emulator/machine/observer.hpp"

namespace emulator {

/// The metric that counts the sectors of such accesses to global memory.
Metric global_sectors(AccessKind kind);

/// Adds the cost of a memory request.
void count_access(Counters& counters, const Instruction& instruction, const Access& access);

/// Adds the cost of a copy to shared memory. A cp.async also counts as a load request; a bulk copy does not.
void count_copy(Counters& counters, const AsyncCopy& copy);

/// Adds the cost with contiguous bytes and without bank conflicts.
void count_ideal_copy(Counters& ideal, const AsyncCopy& copy);

/// Counts what one host thread runs. Aligned to a cache line to avoid false sharing between threads.
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

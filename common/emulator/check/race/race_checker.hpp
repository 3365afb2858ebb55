/// \file
/// The checker `race`: accesses to one place, one of them a write, that nothing orders.
#pragma once

#include "emulator/check/race/memory_order.hpp"
#include "emulator/machine/finding.hpp"
#include "emulator/machine/observer.hpp"

#include <memory>

namespace emulator {

struct RaceOptions {
    bool global = false;             ///< global memory as well, between blocks too
    std::uint32_t ticks = max_ticks; ///< after so many it forgets what was before: for tests
};

/// In shared memory every hazard between two threads of a block is found that this run's order of atomics
/// and messages lets happen, in whatever order the threads have run.
///
/// In clusters so are those with threads of other blocks, and the end of a block's shared memory while others
/// are not done with it. Their blocks are ordered by the barrier of the cluster, or as in global memory:
///
/// In global memory (on request) the same within a block. Between blocks there is order by atomics and
/// fences only, and who has read whose message is not followed through: where the one block has executed a
/// fence after its access, and the other one an atomic or volatile access before its own, they are taken to
/// be ordered.
///
/// What is no finding: stores of the value that is there already; atomics among themselves, and a load whose
/// value an atomicCAS compares with. Volatile accesses are what atomics are if a fence comes before the store
/// (a flag), and otherwise like all others (data).
class RaceChecker final : public Watcher {
public:
    explicit RaceChecker(Findings& findings, RaceOptions options = {})
        : findings_(findings), options_(options) {}

    std::unique_ptr<Observer> observer(const Grid& grid) override;
    bool wants_one_thread() const override { return options_.global; }
    bool judges_blocks() const override { return !options_.global; }

private:
    Findings& findings_;
    RaceOptions options_;
};

} // namespace emulator

/// The checker `race`: unordered accesses to one location, at least one of them a write.
#pragma once

#include "emulator/check/race/memory_order.hpp"
#include "emulator/machine/finding.hpp"
#include "emulator/machine/observer.hpp"

#include <memory>

namespace emulator {

struct RaceOptions {
    bool global = false;             ///< also in global memory, between blocks too
    std::uint32_t ticks = max_ticks; ///< stamps restart after this many: for tests
};

/// Shared memory: finds every hazard between two threads of a block that is possible with this run's order of
/// atomics, whatever order the threads ran in.
///
/// Clusters: the same for threads of other blocks, and shared memory that ends while other blocks still use
/// it. The cluster barrier orders blocks; otherwise they are ordered as in global memory.
///
/// Global memory (on request): the same within a block. PTX's memory model orders blocks: a release in one
/// and an acquire in the other meet at one location, each with a scope that includes both blocks. See
/// GridOrder.
///
/// Not reported: stores of the value that is already there, atomics against atomics, and loads whose value an
/// atomicCAS compares with. A volatile store after a fence (a flag) counts as an atomic; any other volatile
/// access (data) counts as a plain one.
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

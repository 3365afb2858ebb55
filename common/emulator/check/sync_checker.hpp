/// The checker `sync`: barriers and masks on which their threads disagree.
#pragma once

#include "emulator/machine/finding.hpp"
#include "emulator/machine/observer.hpp"

#include <memory>

namespace emulator {

/// Block barriers: threads that wait forever, also at an mbarrier; a `bar` that lanes of one warp reach at
/// different instructions; wrong or different thread counts. Threads that have exited are not missing: since
/// compute capability 7.0 a barrier waits for the others.
///
/// Masks: those that lack the calling lane; those with lanes that wait elsewhere or pass by; shuffles from a
/// lane that has exited. Lanes of a mask that just exit are no finding.
///
/// Cluster barriers: threads that exit without arriving, arrive and exit without waiting, or do not alternate
/// arrivals and waits.
///
/// Mbarriers that are invalidated where there are none.
///
/// Threads that wait forever are released, with one finding per block.
class SyncChecker final : public Watcher {
public:
    explicit SyncChecker(Findings& findings) : findings_(findings) {}

    std::unique_ptr<Observer> observer(const Grid& grid) override;

private:
    Findings& findings_;
};

} // namespace emulator

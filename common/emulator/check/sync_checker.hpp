/// \file
/// The checker `sync`: barriers and masks that their threads do not agree on.
#pragma once

#include "emulator/machine/finding.hpp"
#include "emulator/machine/observer.hpp"

#include <memory>

namespace emulator {

/// Finds, for block barriers: threads that wait for others for ever, at an mbarrier too; a barrier of the
/// whole block that some threads have exited without; a `bar` that lanes of one warp come to at different
/// places; numbers of threads that are wrong, or differ. For masks: those without the lane that uses them;
/// those with lanes that wait elsewhere, or go by; shuffles from a lane that has exited.
///
/// For the barrier of a cluster: threads that have exited without coming to it, that exit without waiting
/// after they have arrived, or that do not arrive and wait in turn.
///
/// Where threads wait for ever, it lets them go on. That is told once for each block.
///
/// Nothing is found where lanes that a mask names exit without doing anything else: they count no more.
class SyncChecker final : public Watcher {
public:
    explicit SyncChecker(Findings& findings) : findings_(findings) {}

    std::unique_ptr<Observer> observer(const Grid& grid) override;

private:
    Findings& findings_;
};

} // namespace emulator

/// \file
/// The barriers of clusters, and what is wrong in how threads come to them. They wait for the threads that
/// have not exited.
#pragma once

#include "emulator/check/sync/sync_findings.hpp"

namespace emulator {

/// Threads of `block` that exit between the arrival at the barrier of the cluster and the wait there.
void found_no_wait(SyncFindings& findings, const Block& block, const LaneGroup& arrival,
                   const LaneGroup& exit);

} // namespace emulator

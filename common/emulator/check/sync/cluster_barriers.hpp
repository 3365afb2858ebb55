/// \file
/// The barriers of clusters, and errors in how threads arrive at them. They wait for the threads that have
/// not exited.
#pragma once

#include "emulator/check/sync/sync_findings.hpp"

namespace emulator {

/// Threads of `block` that exit between their arrival at the cluster barrier and the wait.
void found_no_wait(SyncFindings& findings, const Block& block, const LaneGroup& arrival,
                   const LaneGroup& exit);

} // namespace emulator

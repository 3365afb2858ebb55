/// \file
/// Blocks in which every thread is stuck: at barriers of the block or the cluster, at mbarriers, or waiting
/// for lanes that a mask names.
#pragma once

#include "emulator/check/sync/block_barriers.hpp"
#include "emulator/check/sync/sync_findings.hpp"

#include <vector>

namespace emulator {

/// `exits`: the threads of the block that have exited.
void found_deadlock(SyncFindings& findings, const Block& block, const BlockBarriers& barriers,
                    const std::vector<LaneGroup>& exits);

} // namespace emulator

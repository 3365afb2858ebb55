#include "emulator/check/sync/cluster_barriers.hpp"

namespace emulator {

void found_no_wait(SyncFindings& findings, const Block& block, const LaneGroup& arrival,
                   const LaneGroup& exit) {
    findings.add(SyncFindings::Kind::no_wait, arrival.id, exit.id, [&] {
        return findings.finding(
            "arrival without a wait",
            "a thread arrives at the cluster barrier and exits without waiting there",
            {findings.party_of("arrives here", block, arrival), findings.party_of("has exited", block, exit)},
            "A barrier_wait() is missing: each barrier_arrive() needs one by the same thread.");
    });
}

} // namespace emulator

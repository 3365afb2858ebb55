#include "emulator/check/sync/cluster_barriers.hpp"

#include "emulator/text.hpp"

#include <string>

namespace emulator {

void ClusterBarriers::arrive(const Block& block, const LaneGroup& group) {
    FirstArrival& first = first_[&block.cluster()];
    if (!first.block) first = {&block, group};
}

void ClusterBarriers::found_not_reached(const Cluster& cluster, const FirstArrival& waiting,
                                        const Block& block, const LaneGroup& exit, std::uint64_t threads) {
    findings_.add(SyncFindings::Kind::not_reached, waiting.group.id, exit.id, [&] {
        return findings_.finding(
            "barrier not reached by all",
            "the barrier of the cluster is for all its threads, but " + number_of(threads, "thread") +
                " of " + thousands(cluster.blocks().size() * findings_.grid().configuration.block.count()) +
                " exited without coming to it",
            {findings_.party_of("waits here", *waiting.block, waiting.group),
             findings_.party_of("has exited", block, exit)},
            "A return, or a branch around the barrier, keeps threads from it: every thread of "
            "the cluster has to reach each cluster.sync().");
    });
}

void ClusterBarriers::found_no_wait(const Block& block, const LaneGroup& arrival, const LaneGroup& exit) {
    findings_.add(SyncFindings::Kind::no_wait, arrival.id, exit.id, [&] {
        return findings_.finding(
            "arrival without a wait",
            "a thread arrives at the barrier of the cluster, and exits without having waited "
            "there",
            {findings_.party_of("arrives here", block, arrival),
             findings_.party_of("has exited", block, exit)},
            "A barrier_wait() is missing: to each barrier_arrive() belongs one, by the same "
            "thread.");
    });
}

} // namespace emulator

/// The shadow of shared memory that the blocks of a cluster access.
#pragma once

#include "emulator/check/race/access_shadow.hpp"
#include "emulator/check/race/current_access.hpp"
#include "emulator/check/race/race_actors.hpp"
#include "emulator/check/race/race_finding.hpp"
#include "emulator/machine/describe.hpp"

#include <bit>
#include <cstddef>
#include <map>
#include <optional>

namespace emulator {

inline Visit visit_of(const CurrentAccess& now) {
    const int lane = std::countr_zero(now.access.active);
    return {.thread = party(name_of(now.role), now.warp, now.instruction, lane),
            .role = now.role,
            .address = now.access.addresses[lane]};
}

/// The shared memory of one block. It ends with the block: other blocks' accesses have to happen before.
class ClusterSharedMemory {
public:
    void start(std::size_t bytes) {
        shadow_.emplace(bytes);
        visits_.clear();
    }

    /// Stamps restart: forget everything.
    void forget(std::size_t bytes) {
        if (shadow_) shadow_.emplace(bytes);
        visits_.clear();
    }

    /// As AccessShadow::access.
    template <class Disturbs, class Collides>
    void access(const CurrentAccess& now, const GridActor& actor, Disturbs disturbs, Collides collides) {
        shadow_->access(actor, now.role, now.access.addresses, now.access.bytes, now.access.active, disturbs,
                        collides);
        if (now.access.remote) remember_visit(now, actor.stamp());
    }

    GridActor::Record last_write(std::uint64_t address) const { return shadow_->last_write(address); }

    /// Calls `outlives(visit)` for accesses by other blocks that don't happen before the end of this one,
    /// which knows what is in `others`.
    template <class Outlives> void end(const GridOrder::View& others, Outlives outlives) const {
        for (const auto& [whose, visit] : visits_)
            if (!others.any_knows(block_of(visit.stamp), in_block(visit.stamp))) outlives(visit);
    }

private:
    void remember_visit(const CurrentAccess& now, GridStamp stamp) {
        const int lane = std::countr_zero(now.access.active);
        Visit& visit = visits_[(stamp >> 32 << 32) | now.warp.index()];
        if (visit.stamp == 0) visit = visit_of(now);
        visit.stamp = stamp;
        visit.role = now.role;
        visit.address = now.access.addresses[lane];
    }

    std::optional<AccessShadow<GridActor>> shadow_;
    std::map<GridStamp, Visit> visits_; // by stamp, without its tick
};

} // namespace emulator

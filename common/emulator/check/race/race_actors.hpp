/// \file
/// Who makes an access, for the race checker: a warp, and what happens before it.
#pragma once

#include "emulator/check/race/access_shadow.hpp"
#include "emulator/check/race/cluster_order.hpp"
#include "emulator/check/race/memory_order.hpp"

#include <bit>
#include <cstdint>
#include <unordered_map>

namespace emulator {

/// A warp that accesses its block's shared memory.
class BlockActor {
public:
    using Stamp = emulator::Stamp;
    using Record = AccessRecord<Stamp>;

    BlockActor(const MemoryOrder& order, std::uint32_t warp, InstructionId id, bool needs_all)
        : order_(order), warp_(warp), stamp_(order.stamp(warp)), epoch_(order.epoch()),
          warp_epoch_(order.epoch_between(warp, warp)), id_(id), needs_all_(needs_all) {}

    Stamp stamp() const { return stamp_; }
    Stamp epoch() const { return epoch_; }
    InstructionId id() const { return id_; }
    bool needs_all() const { return needs_all_; }

    /// 0 also where the access is the same thread's.
    LaneMask may_be_concurrent(Stamp stamp, LaneMask lanes, LaneMask now) const {
        const LaneMask other_warp = warp_of(stamp) ^ warp_;
        const LaneMask other_lane = (lanes ^ now) | (now & (now - 1));
        const LaneMask since_warp_barrier = stamp >= warp_epoch_ ? other_lane : 0;
        return stamp >= epoch_ ? other_warp | since_warp_barrier : 0;
    }

    LaneMask unordered(const Record& record, LaneMask lanes) const {
        return record.stamp < epoch_ ? 0 : order_.unordered(record.stamp, record.lanes, warp_, lanes);
    }

    bool is_alive(const Record& record) const { return record.stamp >= epoch_; }
    static bool same_group(Stamp a, Stamp b) { return warp_of(a) == warp_of(b); }

private:
    const MemoryOrder& order_;
    std::uint32_t warp_;
    Stamp stamp_, epoch_, warp_epoch_;
    InstructionId id_;
    bool needs_all_;
};

/// What blocks have released to each other, as far as it is tracked: see RaceChecker.
struct GridFences {
    std::unordered_map<std::uint32_t, Stamp> last_fence; ///< by block
};

/// A stamp with the number of its block, from 1 on, in the upper half.
using GridStamp = std::uint64_t;

constexpr std::uint32_t block_of(GridStamp stamp) { return static_cast<std::uint32_t>(stamp >> 32) - 1; }
constexpr Stamp in_block(GridStamp stamp) { return static_cast<Stamp>(stamp); }

/// Where a warp is in its cluster.
struct InCluster {
    const ClusterOrder* order = nullptr; ///< null: without clusters
    std::uint32_t rank = 0, warp = 0;

    bool knows(std::uint32_t block, Stamp stamp) const {
        return order && order->knows(rank, warp, block, stamp);
    }
};

/// A warp that accesses memory of more than one block: global memory, or the shared memory of a cluster.
class GridActor {
public:
    using Stamp = GridStamp;
    using Record = AccessRecord<Stamp>;

    GridActor(const BlockActor& in_block, std::uint32_t block, InCluster in_cluster,
              const GridFences& grid_fences, bool may_have_acquired)
        : in_block_(in_block), block_(block), in_cluster_(in_cluster), grid_fences_(grid_fences),
          may_have_acquired_(may_have_acquired) {}

    Stamp stamp() const { return (Stamp{block_} + 1) << 32 | in_block_.stamp(); }
    Stamp epoch() const { return 1; }
    InstructionId id() const { return in_block_.id(); }
    /// Arrivals at the barrier of a cluster order some of its threads, and not others.
    bool needs_all() const { return in_cluster_.order != nullptr; }

    LaneMask may_be_concurrent(Stamp stamp, LaneMask lanes, LaneMask now) const {
        if (stamp == 0 || (std::has_single_bit(now) && unordered({stamp, lanes, 0}, now) == 0)) return 0;
        return lanes;
    }

    LaneMask unordered(const Record& record, LaneMask lanes) const {
        if (record.stamp == 0) return 0;
        const emulator::Stamp stamp = in_block(record.stamp);
        if (in_cluster_.knows(block_of(record.stamp), stamp)) return 0;
        if (block_of(record.stamp) == block_)
            return in_block_.unordered({stamp, record.lanes, record.id}, lanes);
        if (!may_have_acquired_) return record.lanes;
        const auto fence = grid_fences_.last_fence.find(block_of(record.stamp));
        return fence != grid_fences_.last_fence.end() && stamp < fence->second ? 0 : record.lanes;
    }

    bool is_alive(const Record& record) const {
        return record.stamp != 0 &&
               (block_of(record.stamp) != block_ || in_block(record.stamp) >= in_block_.epoch());
    }
    static bool same_group(Stamp a, Stamp b) { return block_of(a) == block_of(b); }

private:
    const BlockActor& in_block_;
    std::uint32_t block_;
    InCluster in_cluster_;
    const GridFences& grid_fences_;
    bool may_have_acquired_; ///< what other blocks released
};

} // namespace emulator

/// A warp that makes an access, for the race checker, and what happens before that access.
#pragma once

#include "emulator/check/race/access_shadow.hpp"
#include "emulator/check/race/grid_order.hpp"
#include "emulator/check/race/memory_order.hpp"

#include <cstdint>

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
    static Stamp latest(Stamp, Stamp next) { return next; }
    bool is_over(Stamp latest) const { return latest < epoch_; }
    InstructionId id() const { return id_; }
    bool needs_all() const { return needs_all_; }

    /// Also 0 if the access is by the same thread.
    LaneMask may_be_concurrent(Stamp stamp, LaneMask lanes, LaneMask now) const {
        const LaneMask other_warp = warp_of(stamp) ^ warp_;
        const LaneMask other_lane = (lanes ^ now) | (now & (now - 1));
        const LaneMask since_warp_barrier = stamp >= warp_epoch_ ? other_lane : 0;
        return stamp >= epoch_ ? other_warp | since_warp_barrier : 0;
    }

    bool is_after(Stamp stamp) const { return stamp < order_.epoch_between(warp_of(stamp), warp_); }

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

/// A stamp with the number of its block, from 1 on, in the upper half.
using GridStamp = std::uint64_t;

constexpr std::uint32_t block_of(GridStamp stamp) { return static_cast<std::uint32_t>(stamp >> 32) - 1; }
constexpr Stamp in_block(GridStamp stamp) { return static_cast<Stamp>(stamp); }

/// A warp that accesses memory of more than one block: global memory, or the shared memory of a cluster.
class GridActor {
public:
    using Stamp = GridStamp;
    using Record = AccessRecord<Stamp>;

    /// Arrivals at a cluster barrier order some of the cluster's threads and not others: then it `needs_all`.
    GridActor(const BlockActor& in_block, std::uint32_t block, std::uint32_t warp,
              const GridOrder::View& others, bool needs_all)
        : in_block_(in_block), block_(block), warp_(warp), others_(others), needs_all_(needs_all) {}

    Stamp stamp() const { return (Stamp{block_} + 1) << 32 | in_block_.stamp(); }
    Stamp epoch() const { return 1; }
    /// Of accesses by one block, or by `several`: then the order is unknown.
    static Stamp latest(Stamp before, Stamp next) {
        return before == 0 || block_of(before) == block_of(next) ? next : several;
    }
    bool is_over(Stamp latest) const {
        return latest == 0 || (block_of(latest) == block_ && in_block_.is_over(in_block(latest)));
    }
    InstructionId id() const { return in_block_.id(); }
    bool needs_all() const { return needs_all_; }

    LaneMask may_be_concurrent(Stamp stamp, LaneMask lanes, LaneMask now) const {
        if (stamp == 0) return 0;
        if (block_of(stamp) == block_ && in_block_.may_be_concurrent(in_block(stamp), lanes, now) == 0)
            return 0;
        const bool is_one_lane = (now & (now - 1)) == 0;
        return is_one_lane && unordered({stamp, lanes, 0}, now) == 0 ? 0 : lanes;
    }

    bool is_after(Stamp stamp) const {
        return others_.knows(warp_, block_of(stamp), in_block(stamp)) ||
               (block_of(stamp) == block_ && in_block_.is_after(in_block(stamp)));
    }

    LaneMask unordered(const Record& record, LaneMask lanes) const {
        if (record.stamp == 0) return 0;
        const emulator::Stamp stamp = in_block(record.stamp);
        if (others_.knows(warp_, block_of(record.stamp), stamp)) return 0;
        return block_of(record.stamp) == block_ ? in_block_.unordered({stamp, record.lanes, record.id}, lanes)
                                                : record.lanes;
    }

    bool is_alive(const Record& record) const {
        return record.stamp != 0 &&
               (block_of(record.stamp) != block_ || in_block(record.stamp) >= in_block_.epoch());
    }
    static bool same_group(Stamp a, Stamp b) { return block_of(a) == block_of(b); }

private:
    static constexpr Stamp several = ~Stamp{0}; // no grid is large enough for a block with this number

    const BlockActor& in_block_;
    std::uint32_t block_, warp_;
    const GridOrder::View& others_;
    bool needs_all_;
};

} // namespace emulator

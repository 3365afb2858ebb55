/// Which memory accesses of a block's threads happen before which, whatever order the threads run in.
#pragma once

#include "emulator/machine/observer.hpp"
#include "emulator/program/lanes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace emulator {

/// The time of a warp's access: a tick in the upper bits, the warp's index in the lower 5. Each event that
/// orders threads starts a new tick. Within a tick only the accesses of one thread are ordered. 0 precedes
/// everything.
using Stamp = std::uint32_t;

/// The last tick, less a reserve.
inline constexpr std::uint32_t max_ticks = (std::uint32_t{1} << 26) - 64;

constexpr std::uint32_t warp_of(Stamp stamp) { return stamp & 31; }

/// Happens-before in one block. A block barrier orders all threads that arrive at it, a warp barrier the
/// lanes in its mask. Shuffles and votes order nothing. A fence followed by an atomic releases everything
/// before it to any thread that reads the same location with an atomic followed by a fence.
///
/// Kept as vector clocks: for each pair of warps, the stamp up to which one warp's accesses happen before the
/// other's next ones. If partial warp barriers have ordered lanes of a warp, the same for each pair of its
/// lanes. Other clocks are per warp: if some lanes synchronize, all are assumed to. This may miss a race; it
/// never invents one.
class MemoryOrder {
public:
    static constexpr std::size_t max_warps = 32;

    /// For each warp: accesses with earlier stamps are known to have been made.
    using Clock = std::array<Stamp, max_warps>;

    static void join(Clock& clock, const Clock& other);

    explicit MemoryOrder(std::uint32_t ticks) : ticks_(ticks) {}

    /// A block begins where another one has ended.
    void start();

    /// Stamps are nearly used up: drop all stored stamps and call forget(), which restarts them. Everything
    /// so far then precedes everything that follows.
    bool is_used_up() const { return now_ > ticks_; }
    void forget();

    /// The stamp of an access that `warp` makes now.
    Stamp stamp(std::uint32_t warp) const { return now_ << 5 | warp; }

    /// Accesses with earlier stamps happen before everything that follows.
    Stamp epoch() const { return epoch_; }

    /// Accesses of `earlier` with stamps before this happen before the next ones of `later`.
    Stamp epoch_between(std::uint32_t earlier, std::uint32_t later) const {
        return std::max(epoch_, clocks_[later][earlier]);
    }

    /// The lanes among `earlier`, which made an access at `stamp`, that nothing orders with the next access
    /// of the lanes `now` of `warp`. A lane is ordered with itself.
    LaneMask unordered(Stamp stamp, LaneMask earlier, std::uint32_t warp, LaneMask now) const;

    /// Whether the warp has executed a fence since the last barrier of the whole block, and before `stamp`.
    bool fenced_before(Stamp stamp) const;

    /// Whether acquire_from, or release_to, can make a difference now.
    bool has_releases() const { return fences_ && !fences_->released.empty(); }
    bool can_release(std::uint32_t warp) const { return fences_ && fences_->last[warp] >= epoch_; }

    /// Separates later accesses from earlier ones.
    void start_tick() { pass_tick(); }

    // ---- events ----

    /// What the warp can release now: everything that it has done and knows about.
    Clock release(std::uint32_t warp);
    /// … or could at its last fence. Null: no fence yet, or a barrier has ordered that already.
    const Clock* released_by_fence(std::uint32_t warp) const {
        return can_release(warp) ? &fences_->sent[warp] : nullptr;
    }

    void barrier_arrive(std::uint32_t warp, const BarrierArrival& arrival);
    void barrier_complete(const Block& block, const BarrierCompletion& completion);
    void warp_barrier_arrive(const Warp& warp, LaneMask lanes);
    void fenced(std::uint32_t warp);
    /// Reads or writes a location with an access that may synchronize.
    void acquire_from(std::uint32_t warp, std::uint64_t place, bool acquires);
    void release_to(std::uint32_t warp, std::uint64_t place);
    /// An arrival at an mbarrier releases all that the warp has done, and the end of a wait acquires it.
    void arrived_at_mbarrier(std::uint32_t warp, std::uint64_t place) {
        join(mbarriers_[place], release(warp));
    }
    void waited_at_mbarrier(std::uint32_t warp, std::uint64_t place);

private:
    static constexpr std::size_t barriers = 16;

    struct Barrier {
        Clock clock{};
        std::uint32_t waiting = 0; ///< one bit for each warp
        bool has_arrivals = false; ///< of warps that do not wait
    };
    struct Fences {
        std::array<Stamp, max_warps> first{}, last{}; ///< of each warp, since the last epoch
        std::array<Clock, max_warps> sent{};          ///< what it releases: its clock at its last fence
        std::array<Clock, max_warps> seen{};          ///< what it has read so far: acquired at its next fence
        std::unordered_map<std::uint64_t, Clock> released; ///< by place
    };
    using LaneClocks = std::array<Clock, warp_size>;

    Stamp pass_tick() { return ++now_ << 5; }
    std::uint32_t ticks_;
    std::uint32_t now_ = 1;
    Stamp epoch_ = 1 << 5;
    std::array<Clock, max_warps> clocks_{}; ///< stale values are harmless: they precede the epoch
    std::array<Barrier, barriers> barriers_{};
    std::array<std::unique_ptr<LaneClocks>, max_warps> lane_clocks_; ///< of warps with partial warp barriers
    std::unordered_map<std::uint64_t, Clock> mbarriers_;             ///< what has been released, by location
    std::unique_ptr<Fences> fences_;                                 ///< null: none has been executed yet
};

} // namespace emulator

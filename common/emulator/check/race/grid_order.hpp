/// Which memory accesses of a block happen before which accesses of other blocks.
#pragma once

#include "emulator/check/instruction_ids.hpp"
#include "emulator/check/race/grid_clock.hpp"
#include "emulator/check/race/memory_order.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emulator {

inline bool does_acquire(const Instruction& instruction) {
    return instruction.ordering == Ordering::acquire || instruction.ordering == Ordering::acquire_release;
}
inline bool does_release(const Instruction& instruction) {
    return instruction.ordering == Ordering::release || instruction.ordering == Ordering::acquire_release;
}

/// An action of a warp that may synchronize it with other blocks: a fence, an atomic, or an ordered load or
/// store.
struct SyncEvent {
    Stamp stamp = 0; ///< when it did so last
    InstructionId id = 0;
    const char* what = ""; ///< "fence", "atomic", …
    Scope scope = Scope::block;
    std::uint64_t first_place = 0, last_place = 0; ///< in between it was
    bool reads = false, writes = false;            ///< neither: a fence
    bool acquires = false, releases = false;       ///< by itself, without a fence

    bool is_fence() const { return !reads && !writes; }
};

/// Happens-before between the blocks of a launch, by the rules of PTX's memory model. What thread A has done
/// happens before what thread B does next if
/// - A executes a fence and then a strong access such as an atomic, or an access that releases,
/// - B reads the same location with a strong access and then executes a fence, or reads it with an access
///   that acquires,
/// - and the scopes of all of these include both threads.
/// Barriers pass this on to the block's other threads, and a cluster barrier to the cluster's blocks.
///
/// As in MemoryOrder, clocks are per warp, and a location passes on everything that was ever released to it.
/// This may miss a race; it never invents one.
class GridOrder {
public:
    using Clock = MemoryOrder::Clock;

    /// What the warps of a running block know about other blocks.
    class View {
    public:
        bool knows(std::uint32_t warp, std::uint32_t block, Stamp stamp) const {
            return known_[warp].knows(block, stamp);
        }
        bool any_knows(std::uint32_t block, Stamp stamp) const;

    private:
        friend class GridOrder;
        static constexpr std::size_t reaches = 2;                     // in the cluster, in the whole grid
        using Clocks = std::array<GridClock, MemoryOrder::max_warps>; // of each warp

        std::uint32_t block_ = 0, cluster_ = 0;
        bool has_known_ = false, has_fenced_ = false;
        Clocks known_;                       // what happens before its next access
        std::array<Clocks, reaches> seen_;   // what it has read so far, and acquires at its next fence
        std::array<Clocks, reaches> fenced_; // what it releases: what it knew at its last fence
        std::vector<SyncEvent>* history_ = nullptr;
    };

    /// A block begins. All blocks of a cluster have the same number `cluster`.
    void start(View& view, std::uint32_t block, std::uint32_t cluster) const;
    /// Stamps restart: forget everything, in the views too.
    void forget();
    void forget(View& view) const;

    // ---- events; `own` is what the warp can tell of its own block ----

    void fenced(View& view, std::uint32_t warp, Scope scope, const Clock& own);
    /// Reads a location with an access that may acquire what others released.
    bool may_read() const { return !released_.empty() || !released_in_cluster_.empty(); }
    void read(View& view, std::uint32_t warp, std::uint64_t place, Scope scope, bool acquires) const;
    /// Writes to it: releases what precedes the warp's last fence, or everything.
    bool may_write(const View& view) const { return view.has_fenced_; }
    void wrote(View& view, std::uint32_t warp, std::uint64_t place, Scope scope) {
        release(view, warp, place, scope, nullptr);
    }
    void released(View& view, std::uint32_t warp, std::uint64_t place, Scope scope, const Clock& own) {
        release(view, warp, place, scope, &own);
    }
    /// What the warp knows.
    GridClock knowledge(const View& view, std::uint32_t warp, const Clock& own) const;
    void learn(View& view, std::uint32_t warp, const GridClock& clock);
    /// The warps of the mask have met at a barrier.
    void met(View& view, std::uint32_t warps);

    // ---- what was done, for what is said of a finding ----

    /// Returns whether the instruction differs from the last one: then start a new tick.
    bool remember(View& view, const SyncEvent& event);
    const std::vector<SyncEvent>& history(std::uint32_t block) const;

private:
    static std::size_t reaches_of(Scope scope) {
        return scope == Scope::block ? 0 : scope == Scope::cluster ? 1 : View::reaches;
    }
    void release(View& view, std::uint32_t warp, std::uint64_t place, Scope scope, const Clock* own);

    std::unordered_map<std::uint64_t, GridClock> released_;                            // to all, by place
    std::map<std::pair<std::uint64_t, std::uint32_t>, GridClock> released_in_cluster_; // by place and cluster
    std::unordered_map<std::uint32_t, std::vector<SyncEvent>> history_;                // by block
};

} // namespace emulator

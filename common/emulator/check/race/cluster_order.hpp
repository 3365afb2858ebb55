/// \file
/// Happens-before between the blocks of a cluster, by its barrier.
#pragma once

#include "emulator/check/race/memory_order.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace emulator {

/// Accesses before an arrival happen before those after the wait of the same phase, in whichever blocks. A
/// warp that has waited has acquired what all warps released when they arrived. No warp is more than one
/// phase behind another.
class ClusterOrder {
public:
    static constexpr std::size_t max_blocks = 16;
    using Clock = MemoryOrder::Clock;

    void start() { *this = {}; }
    /// `number` is that of the block in the grid.
    void add_block(std::uint32_t rank, std::uint32_t number);

    // ---- events ----

    void arrive(std::uint32_t rank, const Clock& released) { MemoryOrder::join(released_[rank], released); }
    /// `ended`: the phase that the warp waits for. Else it goes on when the phase ends.
    void wait(std::uint32_t rank, std::uint32_t warp, bool ended);
    void phase_ended();
    /// All threads of the block have met at a barrier: each has acquired what one of them had.
    void block_met(std::uint32_t rank);
    /// The block's stamps begin anew.
    void forget(std::uint32_t rank);

    /// Whether an access of another block, made at `stamp`, happens before what the warp does now; in the
    /// second form, before what any warp of the block does now.
    bool knows(std::uint32_t rank, std::uint32_t warp, std::uint32_t number, Stamp stamp) const;
    bool knows(std::uint32_t rank, std::uint32_t number, Stamp stamp) const;

private:
    using Clocks = std::array<Clock, max_blocks>; // by rank

    bool is_before(std::uint32_t phases, std::uint32_t number, Stamp stamp) const;

    std::array<std::uint32_t, max_blocks> numbers_{};
    std::size_t blocks_ = 0;
    Clocks released_{};             // until now
    std::array<Clocks, 2> ended_{}; // at the end of the last two phases; even and odd ones
    std::uint32_t phases_ = 0;      // that have ended
    std::array<std::array<std::uint32_t, MemoryOrder::max_warps>, max_blocks>
        waited_{};                                    // phases, of each warp
    std::array<std::uint32_t, max_blocks> waiting_{}; // one bit for each warp
};

} // namespace emulator
